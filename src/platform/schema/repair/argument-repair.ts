// Repairs arguments as models send them: a text of JSON where the schema takes an array, a number, a boolean
// or an object but no text, and null for an optional argument. What the schema may accept is never changed.

import { clip } from '../../../base/words.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import type { JsonSchema } from '../../protocol/primitives.ts'
import { CHECK_STEPS, costOfText, spend, startCheck, TooManySteps } from '../check-cost.ts'
import { MAX_PROBLEMS } from '../check.ts'
import { JsonTexts } from './json-text.ts'
import { SchemaParts, typeOfJson } from './schema-parts.ts'

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
 */
export type Repair = (value: object, refusedPlaces?: ReadonlySet<string>) => Repaired | undefined

/** The check before the repair, and that after it, have their own. */
const REPAIR_STEPS = CHECK_STEPS / 8
/** To look at an item or a member, whatever it is. */
const LOOK_STEPS = 0.5

export function createRepair (options: RepairOptions): Repair {
  let parts: SchemaParts | undefined
  return (value, refusedPlaces) => {
    startCheck(REPAIR_STEPS)
    try {
      parts ??= new SchemaParts(options.schema)
      return new ArgumentRepair({ ...options, parts, refusedPlaces }).repair(value)
    } catch (error) {
      // The arguments are refused as they came.
      if (error instanceof TooManySteps || error instanceof RangeError) return undefined
      throw error
    }
  }
}

/** A text may have texts in it, and those no more. */
const MAX_TEXTS = 2
const MAX_PLACE = 200

interface RepairParts extends RepairOptions {
  readonly parts: SchemaParts
  readonly refusedPlaces: ReadonlySet<string> | undefined
}

class ArgumentRepair {
  readonly #options: RepairParts
  readonly #texts = new JsonTexts()
  readonly #path: Array<string | number> = []
  /** In characters. */
  #pathLength = 0
  readonly #places: string[] = []
  /** How many texts the current value is in. */
  #textCount = 0

  constructor (options: RepairParts) { this.#options = options }

  repair (value: object): Repaired | undefined {
    const repaired = this.#repair(value, this.#options.schema)
    return repaired === value || !isObject(repaired) ? undefined : { value: repaired, places: this.#places }
  }

  #repair (value: unknown, schema: unknown): unknown {
    spend(1)
    if (typeof value === 'string') return this.#repairText(value, schema)
    if (!this.#options.parts.takes(schema, typeOfJson(value))) return value
    if (Array.isArray(value)) {
      spend(value.length * LOOK_STEPS)
      const items = value.map((item: unknown, index) => this.#repairPart(item, index, schema))
      return items.some((item, index) => item !== value[index]) ? items : value
    }
    if (!isObject(value)) return value
    spend(Object.keys(value).length * LOOK_STEPS)
    const members = Object.entries(value)
    const repaired = members.map(([name, member]) => [name, this.#repairPart(member, name, schema)] as const)
    if (repaired.every(([, member], index) => member === members[index]?.[1])) return value
    return Object.fromEntries(repaired.filter(([, member]) => member !== undefined))
  }

  /** Returns `undefined` for a member that is left out. */
  #repairPart (value: unknown, key: string | number, schema: unknown): unknown {
    if (typeof value !== 'string' && typeof value !== 'object') return value
    const { parts } = this.#options
    const part = parts.part(schema, key)
    // It takes everything or nothing.
    if (typeof part === 'boolean') return value
    const keyLength = String(key).length + 1
    this.#path.push(key)
    this.#pathLength += keyLength
    const isLeftOut = value === null && typeof key === 'string' && parts.isOptional(schema, key) &&
      !parts.takes(part, 'null') && this.#note()
    const repaired = isLeftOut ? undefined : this.#repair(value, part)
    this.#path.pop()
    this.#pathLength -= keyLength
    return repaired
  }

  #repairText (text: string, schema: unknown): unknown {
    const { parts, mayRepairBooleans } = this.#options
    if (this.#textCount === MAX_TEXTS || parts.takes(schema, 'string')) return text
    const value = this.#texts.read(text, this.#path.length)
    if (value === undefined || (typeof value === 'boolean' && !mayRepairBooleans)) return text
    if (!parts.takes(schema, typeOfJson(value)) || !this.#note()) return text
    this.#textCount++
    const repaired = this.#repair(value, schema)
    this.#textCount--
    return repaired
  }

  /** Notes that the current place is repaired. Returns `false` if it may not be. */
  #note (): boolean {
    spend(costOfText(this.#pathLength))
    const place = this.#path.join('/')
    const { refusedPlaces, fixedPlaces } = this.#options
    // Libraries have not seen what came in a text.
    const isRefused = this.#textCount > 0 || refusedPlaces?.has(place) !== false
    if (!isRefused || fixedPlaces.has(place)) return false
    if (this.#places.length < MAX_PROBLEMS) this.#places.push(clip(place, MAX_PLACE))
    return true
  }
}
