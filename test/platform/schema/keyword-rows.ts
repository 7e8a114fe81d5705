// For each keyword of ajv, schemas that give it as much work as they can, and the kinds of values.

import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { BYTES, repeat, type VALUES } from './keyword-values.ts'

/** Schemas with a keyword of ajv that none may have. */
export const REFUSED: {
  readonly [keyword: string]: JsonSchema
} = { $async: { $async: true }, id: { id: 'a' } }

export interface Case { readonly value: keyof typeof VALUES, readonly schema: JsonSchema }

const caseOf = (value: Case['value']) => (schema: JsonSchema): Case => ({ value, schema })
const [list, object, text, tree] = [caseOf('list'), caseOf('object'), caseOf('text'), caseOf('tree')]

const names = (length: number) => Array.from({ length }, (_, i) => `a${i}`)
const mapOf = (
  length: number,
  value: unknown
) => Object.fromEntries(names(length).map((name) => [name, value]))

const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }

const LINKED = {
  $defs: { tree: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/tree' } }, { const: 'x' }] } }
}

/** Subschemas that fail or succeed for each item, cheaply and not. */
const SUBSCHEMAS: readonly JsonSchema[] = [
  { type: 'string' }, { type: ['number', 'string'] }, { const: 'x' }, { enum: [0, 'y'] },
  { anyOf: [{ const: 'x' }, { required: ['a0'] }] }, { $ref: '#/$defs/tree' }
]
const withEach = (write: (subschema: JsonSchema) => JsonSchema): JsonSchema[] =>
  SUBSCHEMAS.map((subschema) => ({ ...LINKED, ...write(subschema) }))

/** Lets a keyword for values of one type meet each value of a body. */
const onEach = (schema: JsonSchema): Case[] =>
  [list({ items: schema }), object({ additionalProperties: schema }), text(schema)]

const row = (name: string) => ({ type: 'object', properties: { [name]: { const: 'x' } }, required: [name] })
const branches = [...names(40).map(row), { const: 'x' }]

const NODE = {
  type: ['object', 'number'],
  properties: { a: { $dynamicRef: '#node' } },
  anyOf: [{ properties: { a: { $dynamicRef: '#node' } } }, { type: 'string' }]
}

/** Keywords without work of their own. */
const SILENT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://a.example',
  $defs: {},
  $vocabulary: {},
  $comment: 'x',
  definitions: {},
  title: 'x',
  description: 'x',
  default: 0,
  deprecated: true,
  readOnly: true,
  writeOnly: true,
  examples: [0],
  contentMediaType: 'text/plain',
  contentEncoding: 'base64',
  contentSchema: {},
  then: {},
  else: {},
  minContains: 2,
  maxContains: 2
}

export const KEYWORDS: { readonly [keyword: string]: readonly Case[] } = {
  nullable: onEach({ type: 'number', nullable: true }),
  $dynamicAnchor: [list({ $dynamicAnchor: 'a' })],
  $recursiveAnchor: [list({ ...DRAFT_07, $recursiveAnchor: true })],
  ...Object.fromEntries(
    Object.entries(SILENT).map(([keyword, value]) => [keyword, [list({ [keyword]: value })]])
  ),
  $ref: [...withEach(({ ...schema }) => ({ items: { allOf: [{ $ref: '#/$defs/tree' }, schema] } })).map(list),
    tree({
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: ['object', 'number'],
          properties: { a: { $ref: '#/$defs/node' } },
          additionalProperties: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'array' }] }
        }
      }
    }),
    tree({
      $ref: '#/$defs/node',
      $defs: {
        node: {
          anyOf: [
            { properties: { a: { $ref: '#/$defs/node' } }, required: ['c'] },
            { properties: { a: { $ref: '#/$defs/node' } }, required: ['d'] }
          ]
        }
      }
    })
  ],
  $dynamicRef: [
    tree({ $dynamicAnchor: 'node', ...NODE }),
    list({ $dynamicAnchor: 'node', items: { $dynamicRef: '#node' } })
  ],
  $recursiveRef: [list({ items: { $recursiveRef: '#' } })],

  maximum: onEach({ maximum: 1e300 }),
  minimum: onEach({ minimum: -1e300 }),
  exclusiveMaximum: onEach({ exclusiveMaximum: 1e300 }),
  exclusiveMinimum: onEach({ exclusiveMinimum: -1e300 }),
  multipleOf: [...onEach({ multipleOf: 1e-7 }), ...onEach({ multipleOf: 3.3 })],
  maxLength: [
    ...onEach({ maxLength: BYTES }),
    text({ maxLength: BYTES / 4 }),
    text({ allOf: repeat(100, { maxLength: 419_430 }) })
  ],
  minLength: [
    ...onEach({ minLength: 1 }),
    text({ minLength: BYTES / 4 }),
    text({ allOf: repeat(100, { minLength: 419_430 }) })
  ],
  pattern: [
    ...onEach({ pattern: '^(a|x|é)+$' }),
    ...onEach({ pattern: '(a+)+$' }),
    text({ pattern: '^(?=.*b)(?!.*c).*$' }),
    text({ allOf: repeat(20, { pattern: 'b$' }) })
  ],
  maxProperties: [
    ...onEach({ maxProperties: 1e6 }),
    object({ maxProperties: 1 }),
    object({ allOf: repeat(100, { maxProperties: 1e6 }) })
  ],
  minProperties: [
    ...onEach({ minProperties: 1 }),
    object({ minProperties: 1e6 }),
    object({ anyOf: repeat(100, { minProperties: 1e6 }) })
  ],
  required: [...onEach({ required: names(500) }), object({ required: names(500) })],
  maxItems: onEach({ maxItems: 1e6 }),
  minItems: onEach({ minItems: 1 }),
  uniqueItems: [
    ...onEach({ uniqueItems: true }),
    list({ uniqueItems: true }),
    list({ allOf: repeat(50, { uniqueItems: true }) })
  ],
  type: [
    ...onEach({ type: ['string', 'null', 'array'] }),
    list({ allOf: repeat(100, { items: { type: ['number', 'string', 'object', 'array'] } }) })
  ],
  const: [
    ...onEach({ const: 'x' }),
    ...onEach({ const: { a0: 0, b: 'x' } }),
    list({ const: [0] }),
    object({ const: {} })
  ],
  enum: [...onEach({ enum: [...names(1000), 0, ''] }), list({ enum: [[0]] }), object({ enum: [{}, []] })],
  not: [
    ...withEach((schema) => ({ items: { not: schema } })).map(list),
    object({ additionalProperties: { not: { const: 'y' } } })
  ],
  anyOf: [
    list({ items: { anyOf: branches } }),
    object({ additionalProperties: { anyOf: branches } }),
    object({ anyOf: repeat(100, { additionalProperties: false }) }),
    ...withEach((schema) => ({ anyOf: repeat(50, { items: schema }) })).map(list)
  ],
  oneOf: [
    list({ items: { oneOf: branches } }),
    object({ additionalProperties: { oneOf: branches } }),
    list({ oneOf: [{ items: { type: 'number' } }, { items: { type: 'string' } }, { items: true }] })
  ],
  allOf: [
    list({ items: { allOf: repeat(50, { type: ['number', 'string'] }) } }),
    object({ allOf: repeat(50, { additionalProperties: { type: ['number', 'string'] } }) }),
    list({ allOf: repeat(200, { items: { type: ['number', 'string'] } }) })
  ],
  if: [
    list({
      items: {
        if: { const: 'y' },
        then: false,
        else: { if: { type: 'number' }, then: true, else: { minLength: 0 } }
      }
    }),
    object({ if: { propertyNames: { maxLength: 2 } }, then: false, else: true })
  ],
  propertyNames: [
    ...withEach((propertyNames) => ({ propertyNames })).map(object),
    object({ propertyNames: { pattern: '^[a-z0-9]+$' } }),
    object({ propertyNames: { maxLength: 9 } })
  ],
  additionalProperties: [
    ...withEach((additionalProperties) => ({
      properties: mapOf(500, true),
      additionalProperties
    })).map(object),
    object({ additionalProperties: false }),
    object({ properties: mapOf(8, {}), patternProperties: { '^a': {}, 1: {} }, additionalProperties: false })
  ],
  dependencies: [
    object({ dependencies: { a0: names(500), a1: { required: names(100) } } }),
    list({ items: { dependencies: mapOf(500, ['b']) } })
  ],
  properties: [
    object({ properties: mapOf(500, { type: ['number', 'string', 'array'] }) }),
    list({ items: { properties: mapOf(500, { type: 'number' }) } })
  ],
  patternProperties: [
    ...withEach((schema) => ({ patternProperties: { '': schema } })).map(object),
    object({ patternProperties: Object.fromEntries(names(100).map((name) => [`${name}$`, { const: 'x' }])) }),
    object({ anyOf: repeat(20, { patternProperties: { '[a-z0-9]': { type: ['string', 'number'] } } }) })
  ],
  prefixItems: [
    list({ prefixItems: repeat(1600, { type: 'number' }) }),
    list({ items: { prefixItems: repeat(1600, { type: 'number' }) } })
  ],
  items: [
    ...withEach((items) => ({ items })).map(list),
    list({ items: { items: { items: {} } } }),
    list({ ...DRAFT_07, items: repeat(1600, { type: 'number' }) })
  ],
  additionalItems: withEach(
    (additionalItems) => ({ items: [{}], additionalItems })
  ).map((schema) => list({ ...DRAFT_07, ...schema })),
  contains: [
    ...withEach((contains) => ({ contains })),
    ...withEach((contains) => ({ contains, minContains: 2, maxContains: 1e6 })),
    { contains: true },
    { contains: false },
    { contains: false, minContains: 0 },
    ...withEach((contains) => ({ anyOf: repeat(50, { contains }) })),
    ...withEach((contains) => ({ items: { contains } })),
    ...withEach((contains) => ({ contains: { contains } })),
    ...withEach((contains) => ({
      contains,
      anyOf: repeat(20, { contains, minContains: 0 }),
      unevaluatedItems: { type: 'number' }
    }))
  ].map(list),
  // Each format has rows of its own.
  format: [],
  formatMaximum: onEach({ format: 'date', formatMaximum: '2020-01-01' }),
  formatMinimum: onEach({ format: 'time', formatMinimum: '10:00:00Z' }),
  formatExclusiveMaximum: onEach({ format: 'iso-date-time', formatExclusiveMaximum: '2020-01-01T00:00:00Z' }),
  formatExclusiveMinimum: onEach({ format: 'date-time', formatExclusiveMinimum: '2020-01-01T00:00:00Z' }),
  dependentRequired: [
    object({ dependentRequired: mapOf(20, names(50)) }),
    list({ items: { dependentRequired: { a0: names(500) } } })
  ],
  dependentSchemas: [
    object({ dependentSchemas: mapOf(100, { properties: mapOf(20, {}) }) }),
    list({ items: { dependentSchemas: mapOf(500, { required: ['b'] }) } })
  ],
  unevaluatedProperties: [
    ...withEach((unevaluatedProperties) => ({ unevaluatedProperties })).map(object),
    object({
      allOf: repeat(5, { properties: mapOf(400, {}) }),
      unevaluatedProperties: { type: ['number', 'string', 'array'] }
    }),
    object({ patternProperties: { '': {} }, unevaluatedProperties: false }),
    object({
      anyOf: repeat(10, { patternProperties: { '': { type: ['number', 'string'] } } }),
      unevaluatedProperties: false
    })
  ],
  unevaluatedItems: [
    ...withEach((unevaluatedItems) => ({ unevaluatedItems })),
    ...withEach((unevaluatedItems) => ({
      prefixItems: [{}],
      contains: { const: 'z' },
      minContains: 0,
      unevaluatedItems
    })),
    ...withEach((contains) => ({
      items: { contains, minContains: 0, unevaluatedItems: { type: ['number', 'string'] } }
    }))
  ].map(list)
}
