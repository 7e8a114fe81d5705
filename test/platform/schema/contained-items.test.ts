// `contains` and the keywords that depend on what it matches.

import fc from 'fast-check'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { evaluate } from './reference-evaluation.ts'

t.setTimeout(300_000)

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'

const { compile } = createSchemaCompiler({ useDefaults: false })

const verdictOf = (schema: JsonSchema, value: unknown) => compile(schema)(value)

type Parts = { schema: JsonSchema | boolean, value: unknown }

const { schema: anySchema, value: anyValue } = fc.letrec<Parts>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(0, 1, 'a', 'b'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'toString'), tie('value'), { maxKeys: 3 })
  ),
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom<JsonSchema | boolean>(
      true, false, {}, { type: 'number' }, { const: 'a' }, { const: [] }, { minimum: 1 },
      { $ref: '#/$defs/one' }
    ),
    fc.record({
      contains: tie('schema'),
      minContains: fc.nat(2),
      maxContains: fc.nat(2),
      unevaluatedItems: tie('schema'),
      prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      items: tie('schema')
    }, { requiredKeys: [] }),
    fc.record({ contains: tie('schema'), unevaluatedItems: tie('schema') }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      additionalProperties: tie('schema'),
      unevaluatedProperties: tie('schema'),
      required: fc.constantFrom(['a'], [])
    }, { requiredKeys: [] }),
    fc.record({
      anyOf: list(tie('schema')),
      allOf: list(tie('schema')),
      unevaluatedItems: tie('schema'),
      contains: tie('schema'),
      unevaluatedProperties: tie('schema')
    }, { requiredKeys: [] }),
    fc.record({
      oneOf: list(tie('schema')), not: tie('schema'), unevaluatedItems: tie('schema')
    }, { requiredKeys: [] }),
    fc.record({
      if: tie('schema'),
      then: tie('schema'),
      else: tie('schema'),
      unevaluatedItems: tie('schema'),
      unevaluatedProperties: tie('schema')
    }, { requiredKeys: ['if'] })
  )
}))

function list<T> (schema: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(schema, { minLength: 1, maxLength: 3 })
}

const withDefinition = fc.tuple(anySchema, anySchema).map(([schema, one]): JsonSchema => {
  return { allOf: [schema], $defs: { one: withoutReferences(one) } }
})

/** A definition that refers to itself would have no end. */
function withoutReferences (schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('{"$ref":"#/$defs/one"}', 'true'))
}

t.test('verdicts are those of the specification', { timeout: 300_000 }, async (t) => {
  fc.assert(fc.property(withDefinition, fc.array(anyValue, { maxLength: 5 }), (schema, values) => {
    const check = compile(schema)
    for (const value of [values, ...values]) {
      if (check(value).ok !== evaluate(schema, value).isValid) throw new Error(JSON.stringify(value))
    }
  }), { numRuns: 120 })
  t.pass()
})

t.test('what an if evaluates counts, whatever its then asks for', async (t) => {
  const clauses = [{}, { then: true }, { then: {} }, { then: { title: 'a' } }, { then: true, else: false }]
  for (const more of clauses) {
    const schema = { if: { properties: { a: { const: 1 } } }, ...more, unevaluatedProperties: false }
    const text = JSON.stringify(schema)
    t.ok(verdictOf(schema, { a: 1 }).ok, text)
    t.notOk(verdictOf(schema, { a: 2 }).ok, text)
    t.notOk(verdictOf(schema, { a: 1, b: 1 }).ok, text)
  }
})

const ofItem = fc.constantFrom<JsonSchema | boolean>(
  true, false, {}, { type: 'string' }, { const: 'a' }, { minimum: 1 }, { not: { const: 0 } }
)
const ofList = fc.record({
  contains: ofItem, minContains: fc.nat(3), maxContains: fc.nat(3), items: ofItem, uniqueItems: fc.boolean()
}, { requiredKeys: ['contains'] })
const anywhere = fc.oneof<fc.Arbitrary<JsonSchema>[]>(
  ofList,
  ofList.map((not) => ({ not })),
  list(ofList).map((anyOf) => ({ anyOf })),
  list(ofList).map((oneOf) => ({ oneOf, contains: true, minContains: 0 })),
  fc.tuple(ofList, ofList, ofList).map(([one, two, three]) => ({ if: one, then: two, else: three })),
  ofList.map((one) => {
    return { $ref: '#/$defs/a', $defs: { a: { anyOf: [one, { items: { $ref: '#/$defs/a' } }] } } }
  })
)
const listOfItems = fc.array(fc.constantFrom<unknown>(0, 1, 'a', 'b', [], [0]), { maxLength: 5 })

for (const $schema of [undefined, DRAFT_07]) {
  const dialect = $schema ?? '2020-12'
  t.test(`verdicts on \`contains\` are those of ajv: ${dialect}`, { timeout: 300_000 }, async (t) => {
    const ajv = $schema === undefined ? new Ajv2020({ strict: false }) : new Ajv({ strict: false })
    fc.assert(fc.property(anywhere, fc.array(listOfItems, { minLength: 5 }), (schema, values) => {
      const check = compile($schema === undefined ? schema : { ...schema, $schema })
      const accepts = ajv.compile(structuredClone(schema))
      for (const value of values) {
        if (check(value).ok !== accepts(value)) throw new Error(JSON.stringify(value))
      }
    }), { numRuns: 120 })
    t.pass()
  })
}

t.test('a tuple does not hide the keywords after it', async (t) => {
  for (const schema of [{ prefixItems: [{ const: 'a' }] }, { items: [{ const: 'a' }], $schema: DRAFT_07 }]) {
    t.equal(verdictOf({ ...schema, contains: { const: 'b' } }, []).ok, false)
    t.equal(verdictOf({ ...schema, contains: { const: 'b' } }, ['a', 'b']).ok, true)
  }
})

t.test('what an earlier item has evaluated counts for that item only', async (t) => {
  const rows = {
    items: {
      anyOf: [
        { required: ['a'], properties: { a: true, c: true } }, { required: ['b'], properties: { b: true } }
      ],
      unevaluatedProperties: false
    }
  }
  t.equal(verdictOf(rows, [{ a: 1, c: 1 }, { b: 1 }]).ok, true)
  t.equal(verdictOf(rows, [{ a: 1, c: 1 }, { b: 1, c: 1 }]).ok, false)
  const named = { patternProperties: { '^a': true }, unevaluatedProperties: false }
  t.equal(verdictOf(named, { toString: 1 }).ok, false)
})

t.test('one list at two places is evaluated at each', async (t) => {
  const list = ['a', 1]
  const schema = {
    properties: {
      x: { contains: { type: 'string' }, unevaluatedItems: { type: 'number' } },
      y: { contains: { type: 'string' }, unevaluatedItems: { type: 'string' } }
    }
  }
  t.equal(verdictOf(schema, { x: list }).ok, true)
  t.equal(verdictOf(schema, { x: list, y: list }).ok, false)
})

t.test('a problem says how many items must match, and why the first of the others does not', async (t) => {
  const problemsOf = (schema: JsonSchema, value: unknown) => {
    const verdict = verdictOf(schema, value)
    return verdict.ok ? [] : verdict.problems
  }
  const tags = { properties: { tags: { contains: { const: 'new' } } } }
  t.strictSame(problemsOf(tags, { tags: ['a', 'b', 'c'] }), [
    'tags[0]: must be "new", got "a"',
    'tags: must contain at least 1 valid item(s), got ["a","b","c"]'
  ])
  const few = { contains: { type: 'string' }, minContains: 1, maxContains: 2 }
  t.strictSame(problemsOf(few, [0, 'a', 'b', 'c']), [
    'value: must contain at least 1 and no more than 2 valid item(s), got [0,"a","b","c"]'
  ])
  t.strictSame(problemsOf({ contains: { type: 'string' }, unevaluatedItems: false }, ['a', 1, 'b']), [
    'value: must NOT have items like that at index 1, which the schema does not describe, got ["a",1,"b"]'
  ])
})
