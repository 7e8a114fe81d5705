// Puts the parts of a schema where it refers to them, for hosts that drop `$defs` or follow no `$ref`. The
// result accepts the same values.

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import { MAX_SCHEMA_DEPTH } from '../../platform/schema/schema-limits.ts'
import { APPLICATORS, DEFINITIONS, mapSubschemas, targetOf } from '../../platform/schema/subschemas.ts'

/** The limit for a schema whose references are resolved, in bytes of JSON. */
const MAX_RESOLVED_BYTES = 16_384

/** References by other names than pointers, and what gives parts such names. */
const NAMED = /"\$(?:id|anchor|dynamicRef|dynamicAnchor|recursiveRef|recursiveAnchor)":|"\$ref":"(?!#["/])/

/** Beside a reference they describe its use, and come before those of its target. */
const ANNOTATIONS = new Set([
  'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment', '$schema'
])
const MIRRORED = 'x-mcp-header'

/**
 * Returns the schema as JSON, without references and definitions. References that lead to a cycle stay, and
 * then all definitions too. The schema stays as it is if the result is longer than `maxBytes` or nested too
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
  /** The references that stay. One that is being resolved is among them: within itself it is a cycle. */
  readonly #staying = new Set<string>()
  /** How many references have stayed so far, and mirrored parameters: a header must not have two. */
  #stayCount = 0
  /** The characters of targets that may still be read. The result has fewer: some are read in vain. */
  #budget: number

  constructor (root: JsonSchema, maxBytes: number) {
    this.#root = root
    this.#budget = 4 * maxBytes
  }

  /** Returns `undefined` if the result is too long or nested too deeply. */
  run (): unknown {
    const resolved = this.#write(this.#root, 1)
    const complete = this.#staying.size === 0 ? resolved : this.#write(this.#root, 1, true)
    return this.#budget < 0 ? undefined : complete
  }

  #write (node: unknown, depth: number, keepsDefinitions = false): unknown {
    if (depth > MAX_SCHEMA_DEPTH) this.#budget = -1
    if (!isObject(node) || this.#budget < 0) return node
    if (MIRRORED in node) this.#stayCount++
    const target = '$ref' in node ? this.#resolve(String(node.$ref), depth + 1) : undefined
    const members = Object.entries(node).flatMap(([keyword, value]): Array<[string, unknown]> => {
      if (keyword === '$ref') return target === undefined ? [[keyword, value]] : []
      if (DEFINITIONS.includes(keyword)) return keepsDefinitions ? [[keyword, value]] : []
      if (APPLICATORS.has(keyword)) {
        return [[keyword, mapSubschemas(
          keyword, value, (part) => this.#write(part, depth + 2, keepsDefinitions)
        )]]
      }
      // What no keyword explains may refer to definitions that would be left out.
      if (JSON.stringify(value).includes('"$ref"')) this.#budget = -1
      return [[keyword, value]]
    })
    const schema: JsonSchema = Object.fromEntries(members)
    return target === undefined ? schema : join(schema, target)
  }

  /** Returns `undefined` for a reference that stays. */
  #resolve ($ref: string, depth: number): unknown {
    const target = targetOf(this.#root, $ref)
    const stayCount = this.#stayCount
    const isSchema = isObject(target) || typeof target === 'boolean'
    if (!isSchema || this.#staying.has($ref)) this.#stayCount++
    this.#staying.add($ref)
    if (this.#stayCount > stayCount) return undefined
    this.#budget -= JSON.stringify(target).length
    const resolved = this.#write(target, depth)
    if (this.#stayCount > stayCount) return undefined
    this.#staying.delete($ref)
    return resolved
  }
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
