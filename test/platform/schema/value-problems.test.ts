import t from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { preview } from '../../../src/platform/schema/value-preview.ts'

function problemsOf (schema: JsonSchema, value: unknown): readonly string[] {
  const verdict = createSchemaCompiler({ useDefaults: false }).compile(schema)(value)
  return verdict.ok ? [] : verdict.problems
}

const sentences: ReadonlyArray<readonly [schema: JsonSchema, value: unknown, problem: string]> = [
  [{ required: ['city'] }, {}, 'city: is required, but missing'],
  [{ properties: { to: { required: ['city'] } } }, { to: {} }, 'to.city: is required, but missing'],
  [{ properties: { a: { type: 'number' } } }, { a: 'ten' }, 'a: must be number, got "ten"'],
  [{ properties: { a: { type: ['number', 'null'] } } }, { a: 'ten' }, 'a: must be number or null, got "ten"'],
  [{ type: 'object' }, [1], 'value: must be object, got [1]'],
  [{ type: 'object' }, undefined, 'value: must be object, got nothing'],
  [{ properties: { a: { enum: ['x', 'y'] } } }, { a: 'z' }, 'a: must be one of ["x","y"], got "z"'],
  [{ properties: { a: { const: 1 } } }, { a: 2 }, 'a: must be 1, got 2'],
  [{ additionalProperties: false }, { extra: 1 }, 'extra: is not known here; remove it'],
  [{ properties: { a: { additionalProperties: false } } }, { a: { extra: 1 } },
    'a.extra: is not known here; remove it'],
  [{ properties: { count: {} }, additionalProperties: false }, { cont: 1 },
    'cont: is not known here; did you mean count?'],
  [{ unevaluatedProperties: false }, { extra: 1 }, 'extra: is not known here; remove it'],
  [{ properties: { a: { minimum: 1 } } }, { a: 0 }, 'a: must be >= 1, got 0'],
  [{ properties: { a: { pattern: '^x' } } }, { a: 'y' }, 'a: must match pattern "^x", got "y"'],
  [{ properties: { list: { items: { type: 'string' } } } }, { list: ['a', 2] },
    'list[1]: must be string, got 2'],
  [{ items: { items: { required: ['b'] } } }, [[{}]], '[0][0].b: is required, but missing'],
  [{ properties: { 'a/b~c': { type: 'string' } } }, { 'a/b~c': 1 }, 'a/b~c: must be string, got 1'],
  [{ if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, 'b: is required, but missing']
]

for (const [schema, value, problem] of sentences) {
  t.test(`says which argument, what was expected and what came: ${problem}`, async (t) => {
    t.same(problemsOf(schema, value), [problem])
  })
}

t.test('reports all problems at once', async (t) => {
  const schema = {
    properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['c'], additionalProperties: false
  }
  t.same([...problemsOf(schema, { a: 1, b: 'x', d: 1 })].sort(), [
    'a: must be string, got 1',
    'b: must be number, got "x"',
    'c: is required, but missing',
    'd: is not known here; remove it'
  ])
})

t.test('says each thing once', async (t) => {
  t.same(problemsOf({ allOf: [{ required: ['a'] }, { required: ['a'] }] }, {}), [
    'a: is required, but missing'
  ])
})

t.test('reports at most eight problems', async (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`)
  t.equal(problemsOf({ required: names }, {}).length, 8)
})

t.test('truncates the value and the expected values', async (t) => {
  const [problem = ''] = problemsOf({ properties: { a: { type: 'number' } } }, { a: 'x'.repeat(1000) })
  t.match(problem, /^a: must be number, got "x{79}…$/)
  const [choice = ''] = problemsOf({ enum: Array.from({ length: 1000 }, (_, index) => `value ${index}`) }, 1)
  t.ok(choice.length < 500, choice)
})

t.test('reports only the first problem of a large value', async (t) => {
  const schema = { required: ['a', 'b'], properties: { text: { type: 'number' } } }
  const problems = problemsOf(schema, { text: 'x'.repeat(100_000) })
  t.equal(problems.length, 1)
  t.ok(problems.join().length < 200)
})

t.test('previews any value in at most 80 characters', async (t) => {
  t.equal(preview(undefined), 'nothing')
  t.equal(preview(`${'x'.repeat(75)}👩‍💻👩‍💻`), `"${'x'.repeat(75)}…`)
  t.equal(preview(`${'x'.repeat(78)}😀${'x'.repeat(20_000)}`), `"${'x'.repeat(78)}…`)
  t.equal(preview('\ud83d'), '"\\ufffd"')
  t.equal(preview(null), 'null')
  t.equal(preview({ a: 1 }), '{"a":1}')
  t.equal(preview(() => 1), 'a value of type function')
  t.equal(preview(1n), 'a value of type bigint that is not JSON')
})
