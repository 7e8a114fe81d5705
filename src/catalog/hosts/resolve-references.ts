// Puts the parts of a schema where it refers to them, for hosts that drop `$defs` or follow no `$ref`. The
// result accepts the same values.

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import { MAX_SCHEMA_DEPTH } from '../../platform/schema/schema-limits.ts'
import { valueAt } from '../../platform/schema/value-problems.ts'

/** The limit for a schema whose references are resolved, in bytes of JSON. */
const MAX_RESOLVED_BYTES = 16_384

/** References by other names than pointers, and what gives parts such names. */
const NAMED = /"\$(?:id|anchor|dynamicRef|dynamicAnchor|recursiveRef|recursiveAnchor)":|"\$ref":"(?!#["/])/

/** Parts that a schema only has for references. */
const DEFINITIONS = ['$defs', 'definitions']
const MAPS = new Set([
  ...DEFINITIONS, 'properties', 'patternProperties', 'dependentSchemas', 'dependencies'
])
/** What a keyword of these means depends on the others beside it. */
const APPLICATORS = new Set([
  'properties', 'patternProperties', 'dependentSchemas', 'dependencies', 'additionalProperties',
  'unevaluatedProperties', 'propertyNames', 'items', 'prefixItems', 'additionalItems', 'unevaluatedItems',
  'contains', 'minContains', 'maxContains', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'
])
/** Beside a reference they describe its use, and come before those of its target. */
const ANNOTATIONS = new Set([
  'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment', '$schema'
])
const MIRRORED = 'x-mcp-header'

/**
 * Returns the schema as JSON, without references and without the definitions that only they need. References
 * that lead to a cycle stay. The schema stays as it is if the result is longer than `maxBytes` or nested too
 * deeply, and if it has parts with `$id` or an anchor.
 */
export function resolveReferences (json: string, maxBytes = MAX_RESOLVED_BYTES): string {
  if (!json.includes('"$ref"')) return json
  const schema: JsonSchema = JSON.parse(json)
  const { $id, ...parts } = schema
  if (NAMED.test(JSON.stringify(parts))) return json
  const resolved = new ReferenceResolution(schema, maxBytes).run()
  if (resolved === undefined) return json
  const text = JSON.stringify(resolved)
  return Buffer.byteLength(text) > maxBytes ? json : text
}

class ReferenceResolution {
  readonly #root: JsonSchema
  /** Whether a reference is resolved, by its pointer. */
  readonly #isResolved = new Map<string, boolean>()
  /** The places of the targets that stay, and all places above them. */
  readonly #neededPlaces = new Set<string>()
  /** The characters that may still be written. */
  #budget: number

  constructor (root: JsonSchema, maxBytes: number) {
    this.#root = root
    // What is written is longer than the result where the annotations of a target give way.
    this.#budget = 2 * maxBytes
  }

  /** Returns `undefined` if the result is too long or nested too deeply. */
  run (): unknown {
    this.#leadsToEnd(this.#root, 0)
    // A needed place may add references. The loop comes to these too.
    for (const [pointer, isResolved] of this.#isResolved) if (!isResolved) this.#keep(pointer)
    const resolved = this.#write(this.#root, '', 1)
    return this.#budget < 0 ? undefined : resolved
  }

  /** Keeps the target of a reference, with all that it is in. */
  #keep (pointer: string): void {
    for (let at = pointer.length; at > 0; at = pointer.lastIndexOf('/', at - 1)) {
      const place = pointer.slice(0, at)
      if (this.#neededPlaces.has(place)) continue
      this.#neededPlaces.add(place)
      this.#leadsToEnd(valueAt(this.#root, place), 0)
    }
  }

  /**
   * Whether all references within lead to an end, and nothing within is a parameter that is mirrored: a
   * header must not have two.
   */
  #leadsToEnd (node: unknown, chain: number): boolean {
    if (!isObject(node)) return true
    const pointer = pointerOf(node)
    let leadsToEnd = !(MIRRORED in node) && (pointer === undefined || this.#resolves(pointer, chain + 1))
    for (const [keyword, value] of Object.entries(node)) {
      // Only references lead to definitions.
      if (DEFINITIONS.includes(keyword)) continue
      mapSubschemas(keyword, value, (part) => {
        // Without an early end: every reference is looked at.
        leadsToEnd = this.#leadsToEnd(part, chain) && leadsToEnd
      })
    }
    return leadsToEnd
  }

  #resolves (pointer: string, chain: number): boolean {
    const earlier = this.#isResolved.get(pointer)
    if (earlier !== undefined) return earlier
    // While the target is looked at, a reference to it is a cycle.
    this.#isResolved.set(pointer, false)
    const target = valueAt(this.#root, pointer)
    const isSchema = isObject(target) || typeof target === 'boolean'
    const resolves = isSchema && chain <= MAX_SCHEMA_DEPTH && this.#leadsToEnd(target, chain)
    this.#isResolved.set(pointer, resolves)
    return resolves
  }

  /** @param place of the node, as a pointer. `undefined` in the copy of a target. */
  #write (node: unknown, place: string | undefined, depth: number): unknown {
    if (this.#budget < 0) return node
    if (depth > MAX_SCHEMA_DEPTH) this.#budget = -1
    if (!isObject(node)) {
      this.#budget -= JSON.stringify(node).length
      return node
    }
    this.#budget -= 2
    const pointer = pointerOf(node)
    const isResolved = pointer !== undefined && this.#isResolved.get(pointer) === true
    const members: Array<readonly [keyword: string, value: unknown]> = []
    for (const [keyword, value] of Object.entries(node)) {
      if (keyword === '$ref' && isResolved) continue
      if (DEFINITIONS.includes(keyword) && !this.#neededPlaces.has(`${place}/${keyword}`)) continue
      members.push([keyword, this.#writeValue(keyword, value, place, depth)])
    }
    const schema: JsonSchema = Object.fromEntries(members)
    return isResolved ? join(schema, this.#write(valueAt(this.#root, pointer), undefined, depth)) : schema
  }

  #writeValue (keyword: string, value: unknown, place: string | undefined, depth: number): unknown {
    if (!APPLICATORS.has(keyword) && !DEFINITIONS.includes(keyword)) {
      const json = JSON.stringify([keyword, value])
      // What no keyword explains may refer to definitions that would be left out.
      this.#budget = json.includes('"$ref"') && keyword !== '$ref' ? -1 : this.#budget - json.length
      return value
    }
    this.#budget -= keyword.length
    return mapSubschemas(keyword, value, (part, path) => {
      this.#budget -= path.length - keyword.length
      const at = place === undefined ? undefined : `${place}/${path}`
      // JSON leaves out the definitions that nothing needs.
      if (DEFINITIONS.includes(keyword) && !this.#neededPlaces.has(String(at))) return undefined
      return this.#write(part, at, depth + (path === keyword ? 1 : 2))
    })
  }
}

/** Returns the pointer of a reference within the schema. */
function pointerOf ({ $ref }: JsonSchema): string | undefined {
  if (typeof $ref !== 'string') return undefined
  try {
    return decodeURIComponent($ref.slice(1))
  } catch {
    // Such a pointer leads nowhere.
    return $ref
  }
}

/**
 * Changes each schema in the value of a keyword.
 * @param change gets the path of the part from the keyword on.
 */
export function mapSubschemas (
  keyword: string, value: unknown, change: (part: unknown, path: string) => unknown
): unknown {
  if (!APPLICATORS.has(keyword) && !DEFINITIONS.includes(keyword)) return value
  if (Array.isArray(value)) return value.map((part, index) => change(part, `${keyword}/${index}`))
  if (!MAPS.has(keyword) || !isObject(value)) return change(value, keyword)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [
    name, change(part, `${keyword}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  ]))
}

/** Joins what stood beside a reference with its target: both hold. */
function join (schema: JsonSchema, target: unknown): unknown {
  const keywords = Object.keys(schema)
  if (keywords.length === 0) return target
  if (target === true) return schema
  if (isObject(target) && mayMerge(schema, target)) return { ...target, ...schema }
  return { ...schema, allOf: [...Array.isArray(schema.allOf) ? schema.allOf : [], target] }
}

function mayMerge (schema: JsonSchema, target: JsonSchema): boolean {
  const applies = (part: JsonSchema) => Object.keys(part).some((keyword) => APPLICATORS.has(keyword))
  return !(applies(schema) && applies(target)) && Object.entries(schema).every(([keyword, value]) => (
    ANNOTATIONS.has(keyword) || !Object.hasOwn(target, keyword) || isDeepStrictEqual(target[keyword], value)
  ))
}
