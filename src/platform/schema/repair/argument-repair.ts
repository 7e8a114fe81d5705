// Repairs arguments as models send them: a text of JSON where the schema takes an array, a number, a boolean
// or an object but no text, and null for an optional argument. What the schema may accept is never changed.

import { clip } from '../../../base/words.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import type { JsonSchema } from '../../protocol/primitives.ts'
import { CHECK_STEPS, costOfText, spend, startCheck, TooManySteps } from '../check-cost.ts'
import { MAX_PROBLEMS } from '../check.ts'
import { readJsonText } from './json-text.ts'
import { createSchemaParts, typeOfJson, type SchemaParts } from './schema-parts.ts'

/** Places are paths of names, joined by slashes. Paths may share a place: a name may have slashes. */
export interface RepairOptions {
  /** The schema that clients see. */
  readonly schema: JsonSchema
  readonly mayRepairBooleans: boolean
  /** Places that are never repaired. */
  readonly fixedPlaces: ReadonlySet<string>
}

export interface Repaired {
  readonly value: { readonly [name: string]: unknown }
  /** The first places that were repaired, for the log. */
  readonly places: readonly string[]
}

/**
 * Returns `undefined` if there is nothing to repair.
 * @param refusedPlaces where a library refuses the value. No other place is repaired: a library may accept
 * more than its JSON Schema says.
 * @param onGivenUp called if the repair would take too long.
 */
export type Repair = (
  value: object, refusedPlaces?: ReadonlySet<string>, onGivenUp?: () => void
) => Repaired | undefined

/** The check before the repair, and that after it, have their own. */
const REPAIR_STEPS = CHECK_STEPS / 8
/** To look at an item or a member, whatever it is. */
const LOOK_STEPS = 0.5

/** A text may have texts in it, and those no more. */
const MAX_TEXTS = 2
const MAX_PLACE = 200

export function createRepair (options: RepairOptions): Repair {
  let parts: SchemaParts | undefined
  return (value, refusedPlaces, onGivenUp) => {
    startCheck(REPAIR_STEPS)
    try {
      parts ??= createSchemaParts(options.schema)
      return repairArguments(value, { ...options, parts, refusedPlaces })
    } catch (error) {
      // The arguments are refused as they came.
      if (!(error instanceof TooManySteps || error instanceof RangeError)) throw error
      onGivenUp?.()
      return undefined
    }
  }
}

interface RepairParts extends RepairOptions {
  readonly parts: SchemaParts
  readonly refusedPlaces: ReadonlySet<string> | undefined
}

function repairArguments (
  args: object, { schema: root, mayRepairBooleans, fixedPlaces, parts, refusedPlaces }: RepairParts
): Repaired | undefined {
  const path: Array<string | number> = []
  const places: string[] = []
  let repairCount = 0
  /** How many texts the current value is in. */
  let textCount = 0
  const repaired = repair(args, root)
  return repairCount > 0 && isObject(repaired) ? { value: repaired, places } : undefined

  function repair (value: unknown, schema: unknown): unknown {
    spend(1)
    if (typeof value === 'string') return repairText(value, schema)
    if (!parts.takes(schema, typeOfJson(value))) return value
    const count = repairCount
    if (Array.isArray(value)) {
      spend(value.length * LOOK_STEPS)
      const items = value.map((item: unknown, index) => repairPart(item, index, schema))
      return repairCount === count ? value : items
    }
    if (!isObject(value)) return value
    spend(Object.keys(value).length * LOOK_STEPS)
    const members = Object.entries(value).map(([name, member]) => [name, repairPart(member, name, schema)])
      .filter(([, part]) => part !== undefined)
    return repairCount === count ? value : Object.fromEntries(members)
  }

  /** Returns `undefined` for a member that is left out. */
  function repairPart (value: unknown, key: string | number, schema: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'object') return value
    const part = parts.part(schema, key)
    // It takes everything or nothing.
    if (typeof part === 'boolean') return value
    path.push(key)
    const isLeftOut = value === null && typeof key === 'string' && parts.isOptional(schema, key) &&
      !parts.takes(part, 'null') && note()
    const repaired = isLeftOut ? undefined : repair(value, part)
    path.pop()
    return repaired
  }

  function repairText (text: string, schema: unknown): unknown {
    if (textCount === MAX_TEXTS || parts.takes(schema, 'string')) return text
    const value = readJsonText(text, path.length)
    if (value === undefined || (typeof value === 'boolean' && !mayRepairBooleans)) return text
    if (!parts.takes(schema, typeOfJson(value)) || !note()) return text
    textCount++
    const repaired = repair(value, schema)
    textCount--
    return repaired
  }

  /** Notes that the current place is repaired. Returns `false` if it may not be. */
  function note (): boolean {
    const place = path.join('/')
    spend(costOfText(place.length))
    // Libraries have not seen what came in a text.
    const isRefused = textCount > 0 || refusedPlaces?.has(place) !== false
    if (!isRefused || fixedPlaces.has(place)) return false
    if (repairCount++ < MAX_PROBLEMS) places.push(clip(place, MAX_PLACE))
    return true
  }
}
