import t from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import {
  findSchemaProblems, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_KEYS
} from '../../../src/platform/schema/schema-limits.ts'

function problemsOf (schema: JsonSchema): string[] {
  return findSchemaProblems(schema, JSON.stringify(schema))
}

/** A schema of exactly this many levels. */
function nested (levels: number): JsonSchema {
  let schema: JsonSchema = {}
  for (let level = 1; level < levels; level++) schema = { items: schema }
  return schema
}

function withKeys (count: number): JsonSchema {
  return { properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, true])) }
}

/** A schema of exactly this many bytes of JSON. */
function ofBytes (bytes: number): JsonSchema {
  const empty = Buffer.byteLength(JSON.stringify({ description: '' }))
  return { description: 'x'.repeat(bytes - empty) }
}

t.test('bounds the bytes of a schema (77)', async (t) => {
  t.same(problemsOf(ofBytes(MAX_SCHEMA_BYTES)), [])
  t.same(problemsOf(ofBytes(MAX_SCHEMA_BYTES + 1)), [
    `is ${MAX_SCHEMA_BYTES + 1} bytes of JSON; the limit is ${MAX_SCHEMA_BYTES}`
  ])
  t.match(problemsOf({ description: '€'.repeat(MAX_SCHEMA_BYTES / 2) }), [/bytes of JSON/],
    'bytes, not characters')
})

t.test('bounds the depth of a schema (77)', async (t) => {
  t.same(problemsOf(nested(MAX_SCHEMA_DEPTH)), [])
  t.match(problemsOf(nested(MAX_SCHEMA_DEPTH + 1)), [/\/items is nested deeper than 64 levels$/])
})

t.test('bounds the keys of one object in a schema (77)', async (t) => {
  t.same(problemsOf(withKeys(MAX_SCHEMA_KEYS)), [])
  t.same(problemsOf(withKeys(MAX_SCHEMA_KEYS + 1)), [
    `/properties has ${MAX_SCHEMA_KEYS + 1} keys; the limit is ${MAX_SCHEMA_KEYS}`
  ])
})

t.test('compiles and runs schemas within the limits (77)', async (t) => {
  const { compile } = createSchemaCompiler({ useDefaults: true })
  const wide = compile(withKeys(MAX_SCHEMA_KEYS))
  t.ok(wide({ p1: 1 }).ok)
  t.ok(compile({ enum: Array.from({ length: 5000 }, (_, index) => `value ${index}`) })('value 4999').ok)
  t.ok(compile(nested(MAX_SCHEMA_DEPTH))([[[]]]).ok)
})

t.test('refuses $async at any place', async (t) => {
  t.match(problemsOf({ $async: true }), [/^\/\$async is not allowed/])
  t.match(problemsOf({ properties: { a: { anyOf: [{ $async: true }] } } }), [
    /^\/properties\/a\/anyOf\/0\/\$async is not allowed/
  ])
  t.same(problemsOf({ $async: false }), [])
})

const outside: ReadonlyArray<readonly [keyword: string, target: string]> = [
  ['$ref', 'https://example.com/schema.json'],
  ['$ref', 'http://169.254.169.254/latest/meta-data'],
  ['$ref', 'https://example.com/schema.json#/$defs/a'],
  ['$ref', '//example.com/schema.json'],
  ['$ref', 'file:///etc/passwd'],
  ['$ref', './other.json'],
  ['$ref', 'urn:example:a'],
  ['$dynamicRef', 'https://example.com/schema.json#x'],
  ['$recursiveRef', 'https://example.com/schema.json']
]

for (const [keyword, target] of outside) {
  t.test(`refuses the ${keyword} ${target}: references are never fetched (75, 76)`, async (t) => {
    const schema = { properties: { a: { [keyword]: target } } }
    const reference = `/properties/a/${keyword} refers to ${JSON.stringify(target)}`
    t.match(problemsOf(schema), [
      `${reference}, which is not in the schema itself; references are never fetched`
    ])
    t.throws(() => createSchemaCompiler({ useDefaults: false }).compile(schema), { name: 'SchemaError' })
  })
}

t.test('allows references inside the schema: by pointer, by anchor, by an embedded $id (75)', async (t) => {
  t.same(problemsOf({ $ref: '#/$defs/a', $defs: { a: { $anchor: 'x' } }, items: { $ref: '#x' } }), [])
  t.same(problemsOf({ $ref: 'https://example.com/a', $defs: { a: { $id: 'https://example.com/a' } } }), [])
  const named = { a: { $id: 'https://example.com/a#' } }
  t.same(problemsOf({ $ref: 'https://example.com/a#/type', $defs: named }), [])
})

t.test('takes properties with the names of keywords for properties', async (t) => {
  const properties = { $ref: { type: 'string' }, $id: { type: 'string' }, $async: { type: 'boolean' } }
  t.same(problemsOf({ properties }), [])
})

t.test('reports all problems at once, each with its place', async (t) => {
  const problems = problemsOf({
    $async: true, properties: { a: { $ref: 'https://example.com' } }, items: nested(MAX_SCHEMA_DEPTH)
  })
  t.match(problems, [/^\/\$async/, /nested deeper/, /^\/properties\/a\/\$ref/])
  t.equal(problems.length, 3)
})
