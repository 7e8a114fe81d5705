// Refuses schemas that are too large to compile safely, refer to the network, or validate asynchronously.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'

export const MAX_SCHEMA_BYTES = 65_536
export const MAX_SCHEMA_DEPTH = 64
/** The limit for the keys of one object. From about 1,500 keys on, the compiled check overflows the stack. */
export const MAX_SCHEMA_KEYS = 500

/** Finds every problem of the schema's size and references, each with its place as a JSON pointer. */
export function findSchemaProblems (schema: JsonSchema, json: string): string[] {
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_SCHEMA_BYTES) return [`is ${bytes} bytes of JSON; the limit is ${MAX_SCHEMA_BYTES}`]
  const problems: string[] = []
  const ids = new Set<string | undefined>()
  const references: Array<{ place: string, target: string }> = []
  walk(schema, '', 1)
  for (const { place, target } of references) {
    if (!target.startsWith('#') && !ids.has(withoutFragment(target))) {
      const reference = `${place} refers to ${JSON.stringify(target)}`
      problems.push(`${reference}, which is not in the schema itself; references are never fetched`)
    }
  }
  return problems

  function walk (node: unknown, place: string, depth: number): void {
    if (typeof node !== 'object' || node === null) return
    if (depth > MAX_SCHEMA_DEPTH) {
      problems.push(toTooDeep(place))
      return
    }
    const entries = Object.entries(node)
    if (!Array.isArray(node) && entries.length > MAX_SCHEMA_KEYS) {
      problems.push(`${place || '/'} has ${entries.length} keys; the limit is ${MAX_SCHEMA_KEYS}`)
      return
    }
    if (isObject(node)) checkKeywords(node, place)
    for (const [key, child] of entries) walk(child, `${place}/${key}`, depth + 1)
  }

  function checkKeywords (node: { readonly [key: string]: unknown }, place: string): void {
    if (node.$async === true) {
      problems.push(`${place}/$async is not allowed: a JSON Schema check must be synchronous`)
    }
    if (typeof node.$id === 'string') ids.add(withoutFragment(node.$id))
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const target = node[keyword]
      if (typeof target === 'string') references.push({ place: `${place}/${keyword}`, target })
    }
  }
}

/** Finds what keeps the schema from becoming JSON: an object that contains itself, or too many levels. */
export function findNestingProblem (schema: JsonSchema): string | undefined {
  return findNesting(schema, '', [])
}

function findNesting (node: unknown, place: string, within: readonly object[]): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined
  if (within.includes(node)) return `${place} contains itself: refer to it with "$ref"`
  if (within.length === MAX_SCHEMA_DEPTH) return toTooDeep(place)
  for (const [key, child] of Object.entries(node)) {
    const problem = findNesting(child, `${place}/${key}`, [...within, node])
    if (problem !== undefined) return problem
  }
  return undefined
}

const toTooDeep = (place: string) => `${place} is nested deeper than ${MAX_SCHEMA_DEPTH} levels`
const withoutFragment = (uri: string) => uri.split('#')[0]
