// Which control the form of a schema has, and the value that it begins with.

import t from 'tap'
import {
  looksLike, planField, toFirstValue, toItemValue
} from '../../../src/edges/console/page/form/field-kinds.ts'
import { resolve } from '../../../src/edges/console/page/form/schema.ts'

type Schema = { readonly [keyword: string]: unknown }

const planOf = (schema: Schema, root: Schema = schema) => planField(resolve(schema, root), root)
const kindOf = (schema: Schema, root?: Schema) => planOf(schema, root).field.kind
const firstOf = (schema: Schema, isRequired = true) => {
  return toFirstValue(resolve(schema, schema), schema, isRequired)
}

t.test('each schema has a control', async (t) => {
  const kinds: ReadonlyArray<readonly [Schema, string]> = [
    [{ type: 'string' }, 'text'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'null' }, 'constant'],
    [{ const: 5 }, 'constant'],
    [{ enum: ['a', 1] }, 'choice'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'variants'],
    [{ type: ['string', 'integer'] }, 'variants'],
    [{ properties: { a: {} } }, 'object'],
    [{ type: 'object' }, 'json'],
    [{ type: 'object', additionalProperties: false }, 'object'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'map'],
    [{ type: 'array', items: { type: 'string' } }, 'list'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true }, 'choices'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, 'tuple'],
    [{ type: 'array' }, 'json'],
    [{}, 'json']
  ]
  for (const [schema, kind] of kinds) t.equal(kindOf(schema), kind, JSON.stringify(schema))
})

t.test('null beside another value is no variant', async (t) => {
  for (const schema of [
    { type: ['integer', 'null'], maximum: 5 },
    { anyOf: [{ type: 'integer', maximum: 5 }, { type: 'null' }] },
    { oneOf: [{ type: 'null' }, { $ref: '#/$defs/a' }], $defs: { a: { type: 'integer', maximum: 5 } } }
  ]) {
    t.match(planOf(schema), { field: { kind: 'number' }, isNullable: true, schema: { maximum: 5 } })
  }
  const choice = { kind: 'choice', choices: [{ value: 'a' }] }
  t.match(planOf({ enum: ['a', null] }), { field: choice, isNullable: true })
})

t.test('references and allOf are put into the schema', async (t) => {
  const root = {
    $defs: {
      'a/b': { title: 'Slash', type: 'string' },
      named: { $anchor: 'here', type: 'integer' },
      base: { properties: { a: { type: 'string' } }, required: ['a'] }
    }
  }
  t.match(resolve({ $ref: '#/$defs/a~1b', title: 'Own' }, root), { title: 'Own', type: 'string' })
  t.match(resolve({ $ref: '#here' }, root), { type: 'integer' })
  const joined = resolve({ allOf: [{ $ref: '#/$defs/base' }], properties: { b: {} }, required: ['b'] }, root)
  t.match(joined, { properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] })
  t.strictSame(resolve({ $ref: '#/$defs/missing' }, root), {})
})

t.test('a schema that is a part of itself ends', async (t) => {
  const list: Schema = { type: 'array', items: { $ref: '#' }, minItems: 1 }
  t.equal(kindOf(list), 'list')
  t.ok(Array.isArray(firstOf(list)))
  t.equal(kindOf({ allOf: [{ $ref: '#' }, { $ref: '#' }] }), 'json')
  t.equal(kindOf({ anyOf: [{ $ref: '#' }, { type: 'null' }] }), 'json')
  const tree: Schema = { type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] }
  t.type(firstOf(tree), 'object')
})

t.test('a required schema that is a part of itself begins small', async (t) => {
  const names = Array.from({ length: 6 }, (_, at) => `child${at}`)
  const toMembers = (member: Schema) => Object.fromEntries(names.map((name) => [name, member]))
  const node = { type: 'object', properties: toMembers({ $ref: '#/$defs/node' }), required: names }
  t.strictSame(firstOf({ $ref: '#/$defs/node', $defs: { node } }), toMembers({}))
  // Each reference has a description of its own: each is another schema.
  const described = Object.fromEntries(
    names.map((name) => [name, { $ref: '#/$defs/node', description: name }])
  )
  const wide = { type: 'object', properties: described, required: names }
  const text = JSON.stringify(firstOf({ $ref: '#/$defs/node', $defs: { node: wide } }))
  t.ok(text.split('child').length <= 1 + 200 + names.length, `${text.length} characters`)
})

t.test('a form begins with the defaults, and with what is required', async (t) => {
  t.strictSame(firstOf({
    type: 'object',
    properties: {
      a: { type: 'string', default: 'x' },
      b: { type: 'string' },
      c: { type: 'boolean' },
      d: { type: 'boolean' },
      e: { type: 'object', properties: { f: { default: 1 } } },
      g: { type: 'object', properties: { f: { default: 1 } } },
      h: { const: 'only' },
      i: { type: 'array', items: { type: 'string' }, minItems: 2 }
    },
    required: ['c', 'e', 'h', 'i']
  }), { a: 'x', c: false, e: { f: 1 }, h: 'only', i: ['', ''] })
  t.equal(firstOf({ type: 'object', properties: {} }, false), undefined)
  t.equal(toItemValue({ type: 'integer', minimum: 3 }, {}), 3)
})

t.test('a value finds its variant', async (t) => {
  const circle = { type: 'object', properties: { kind: { const: 'circle' } }, required: ['kind'] }
  t.equal(looksLike({ kind: 'circle' }, circle, {}), true)
  t.equal(looksLike({ kind: 'square' }, circle, {}), false)
  t.equal(looksLike({}, circle, {}), false)
  t.equal(looksLike(5, { type: 'integer' }, {}), true)
  t.equal(looksLike(5.5, { type: 'integer' }, {}), false)
  t.equal(looksLike(null, { type: 'null' }, {}), true)
})
