// The JSON Schemas of the specification, read from the bundle of the official conformance suite.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'

// `any`: the tests read schemas at every depth, and an absent member must be `undefined`, not a type error.
export type Schema = any

/** Definitions that only one revision has. */
const MARKS: ReadonlyArray<readonly [revision: string, definition: string, absent: string]> = [
  ['2025-03-26', 'JSONRPCBatchRequest', 'ElicitRequest'],
  ['2025-06-18', 'ElicitRequest', 'Icon'],
  ['2025-11-25', 'TaskStatusNotification', 'DiscoverRequest'],
  ['2026-07-28', 'DiscoverRequest', 'PingRequest']
]

/** The schemas by revision. Each has its definitions under `definitions`. */
export function readPublishedSchemas (): ReadonlyMap<string, Schema> {
  const bundle = join(
    dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
    'dist/index.js'
  )
  const text = readFileSync(bundle, 'utf8')
  const found = [...text.matchAll(/\{\$schema:`[^`]*`,(?:definitions|\$defs):\{/g)].map(
    ({ index }) => evaluate(cutLiteral(text, index))
  )
  const schemas = new Map(MARKS.map(([revision, present, absent]) => {
    const [schema, ...others] = found.filter(
      (schema) => present in definitionsOf(schema) && !(absent in definitionsOf(schema))
    )
    if (schema === undefined || others.length > 0) {
      throw new Error(
        `${bundle} must carry the schema of ${revision}, with ${present} and without ${absent}, once; it has ${found.length} schemas, and ${others.length + (schema === undefined ? 0 : 1)} such. Look where this release has them, and cut them out there`
      )
    }
    return [revision, correct(schema)] as const
  }))
  // The suite has no schema of the first revision.
  return schemas.set('2024-11-05', withoutNewer(schemas.get('2025-03-26')))
}

export function definitionsOf (schema: Schema): { [name: string]: Schema } {
  return schema.$defs ?? schema.definitions
}

/** The text from an opening brace to its closing brace. Braces in strings do not count. */
function cutLiteral (text: string, start: number): string {
  let depth = 0
  for (
    const { 0: token, index } of text.slice(start).matchAll(
      /`(?:\\.|[^\\`])*`|"(?:\\.|[^\\"])*"|'(?:\\.|[^\\'])*'|[{}]/gs
    )
  ) {
    if (token === '{') depth++
    if (token === '}' && --depth === 0) return text.slice(start, start + index + 1)
  }
  throw new Error(`the literal at ${start} has no end`)
}

/** Evaluates the text in an empty context, in which it can reach nothing. */
function evaluate (literal: string): Schema {
  return JSON.parse(runInNewContext(`JSON.stringify(${literal})`, Object.create(null)))
}

/** The generator wrote `integer` where the specification's source has `number`. */
function correct (schema: Schema): Schema {
  for (const limit of ['minimum', 'maximum', 'default']) {
    const property = definitionsOf(schema).NumberSchema?.properties[limit]
    if (property !== undefined) property.type = 'number'
  }
  return schema
}

/**
 * The schema of 2024-11-05: that of the next revision without its additions (audio, tool annotations,
 * progress messages, completions, batches).
 */
function withoutNewer (next: Schema): Schema {
  const schema = structuredClone(next)
  const {
    AudioContent, ToolAnnotations, JSONRPCBatchRequest, JSONRPCBatchResponse, ...definitions
  } = definitionsOf(schema)
  delete definitions.Tool.properties.annotations
  delete definitions.ProgressNotification.properties.params.properties.message
  delete definitions.ServerCapabilities.properties.completions
  definitions.JSONRPCMessage.anyOf = definitions.JSONRPCMessage.anyOf.filter((one: Schema) => '$ref' in one)
  const drop = (node: Schema): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node.anyOf)) {
      node.anyOf = node.anyOf.filter((one: Schema) => one.$ref !== '#/definitions/AudioContent')
    }
    for (const child of Object.values(node)) drop(child)
  }
  drop(definitions)
  return { ...schema, definitions }
}
