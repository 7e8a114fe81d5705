// A check ends when it has taken more steps than its budget, whatever its schema and its value are.

import t from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { CHECK_STEPS, withCosts } from '../../../src/platform/schema/check-cost.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'

const compile = (schema: JsonSchema) => createSchemaCompiler({ useDefaults: true }).compile(schema)
const repeat = (count: number, item: unknown) => Array.from({ length: count }, () => item)
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const nested = (depth: number): unknown => depth === 0 ? 'x' : [nested(depth - 1)]

const LIMITED = /needs more than \d+ steps to be checked/

const tree = {
  $ref: '#/$defs/tree',
  $defs: {
    tree: {
      anyOf: [
        { type: 'array', items: { $ref: '#/$defs/tree' }, contains: { type: 'number' } },
        { type: 'array', items: { $ref: '#/$defs/tree' }, contains: { type: 'object' } },
        { const: 'y' }
      ]
    }
  }
}
const row = (name: string) => ({
  type: 'object', properties: { [name]: { type: 'string' } }, required: [name]
})

const COSTLY: ReadonlyArray<readonly [kind: string, schema: JsonSchema, value: unknown]> = [
  ['a recursive anyOf', tree, nested(40)],
  ['a oneOf of 50 branches', { items: { oneOf: numbers(50).map((i) => row(`p${i}`)) } },
    repeat(50_000, { p0: 'x' })],
  ['many patterns on one text', { allOf: repeat(50, { pattern: 'b+$' }) }, 'b'.repeat(100_000)],
  ['many comparisons of one list', { allOf: repeat(50, { uniqueItems: true }) }, numbers(30_000)],
  ['500 properties of many items', {
    items: {
      properties: Object.fromEntries(
        Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string' }])
      )
    }
  }, repeat(100_000, {})]
]

for (const [kind, schema, value] of COSTLY) {
  t.test(`${kind} ends with a problem`, async (t) => {
    const check = compile(schema)
    const start = process.cpuUsage()
    const verdict = check(value)
    const { user, system } = process.cpuUsage(start)
    t.match(verdict, { ok: false, problems: [LIMITED] })
    t.ok(user + system < 1_000_000, 'it takes far less than a second')
  })
}

t.test('values as large as a body may be are checked', async (t) => {
  const nullable = { anyOf: [{ type: 'string' }, { type: 'null' }] }
  const names = Array.from({ length: 10 }, (_, i) => `column${i}`)
  const rows = compile({
    items: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, nullable])) }
  })
  t.ok(rows(repeat(5000, Object.fromEntries(names.map((name) => [name, null])))).ok)
  t.ok(compile({ items: { enum: ['a', 'b'] } })(repeat(200_000, 'a')).ok)
  t.ok(compile({ pattern: 'x$' })('x'.repeat(1_000_000)).ok)
  t.ok(compile({ uniqueItems: true })(numbers(100_000)).ok)
  t.ok(compile({ oneOf: [row('a'), row('b')] })({ a: 'x' }).ok)
})

t.test('each check has a budget of its own', async (t) => {
  const check = compile({ items: { oneOf: [row('a'), row('b')] } })
  const value = repeat(CHECK_STEPS / 8, { a: 'x' })
  for (let i = 0; i < 5; i++) t.ok(check(value).ok)
})

t.test('costs are added to schemas only, and change no verdict', async (t) => {
  const schema = {
    properties: { properties: { const: { anyOf: [1, { not: {} }] } }, anyOf: { enum: [{ oneOf: [] }] } },
    default: { not: 1 },
    'trivet:cost': 'no number'
  }
  t.strictSame(JSON.parse(JSON.stringify(withCosts(schema))), {
    'trivet:cost': 0.25,
    properties: { properties: { const: { anyOf: [1, { not: {} }] } }, anyOf: { enum: [{ oneOf: [] }] } },
    default: { not: 1 }
  })
  t.ok(compile(schema)({ anyOf: { oneOf: [] } }).ok)
  t.notOk(compile(schema)({ anyOf: 1 }).ok)
})
