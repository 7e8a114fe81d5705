// The check without ajv accepts nothing that ajv refuses, and what definitions usually are.

import fc from 'fast-check'
import t from 'tap'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { isPlainlyAccepted } from '../../../src/platform/schema/plain-acceptance.ts'
import { createReader } from '../../../src/platform/schema/reader.ts'
import { Type, type FormatSchema } from '../../../src/platform/schema/type.ts'

const compiler = createSchemaCompiler({ useDefaults: false, isOwn: true })

const NAMES = ['a', 'b', 'toString', '__proto__'] as const
const TEXTS = ['', 'a', 'b', '😀', 'ab', 'urn:a', '2026-11-25', 'toString'] as const

const size = fc.integer({ min: 0, max: 3 })
const text = fc.oneof(
  fc.record({ minLength: size }), fc.record({ maxLength: size }), fc.constant({}),
  fc.record({ pattern: fc.constantFrom('^a', '^(?:a|b)*$', '😀') }),
  fc.record({ format: fc.constantFrom('uri', 'date', 'iso-date-time') })
)
const bounds = fc.oneof(fc.record({ minimum: size }), fc.record({ maximum: size }), fc.constant({}))
const items = fc.oneof(fc.record({ minItems: size }), fc.record({ maxItems: size }), fc.constant({}))
const rest = fc.constantFrom({}, { additionalProperties: false }, {
  dependentRequired: { a: ['b'], toString: ['a'] }, additionalProperties: false
})

const { schema } = fc.letrec<{ schema: FormatSchema }>((tie) => {
  const member = fc.oneof(tie('schema'), tie('schema').map((one) => Type.Optional(one)))
  return {
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom<FormatSchema>(Type.Unknown(), Type.Boolean(), Type.Literal('a'), Type.Enum(['a', 'b'])),
      text.map((options) => Type.String(options)),
      bounds.map((options) => Type.Number(options)),
      bounds.map((options) => Type.Integer(options)),
      fc.tuple(tie('schema'), items).map(([one, options]) => Type.Array(one, options)),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((branches) => Type.Union(branches)),
      tie('schema').map((one) => Type.Record(one)),
      tie('schema').map((one) => Type.Record(one, '^(?:a|b)$')),
      fc.tuple(fc.dictionary(fc.constantFrom('a', 'b', 'toString'), member), rest).map(
        ([members, options]) => Type.Object(members, options)
      )
    )
  }
})

/** Also what is no JSON: an author's module makes definitions. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(...TEXTS, 0, 1, 2, 2.5, -0, NaN, Infinity, true, null, undefined, () => {}, 5n),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.constant([, 'a']), // eslint-disable-line no-sparse-arrays -- a hole is what is tested
    fc.dictionary(fc.constantFrom(...NAMES), tie('value')),
    tie('value').map((inherited) => Object.create({ a: inherited }))
  )
}))

t.test('accepts nothing that ajv refuses', async (t) => {
  let accepted = 0
  let agreed = 0
  const values = fc.array(value, { minLength: 30, maxLength: 30 })
  fc.assert(fc.property(schema, values, (schema, values) => {
    const check = compiler.compile(schema)
    for (const value of values) {
      const isPlain = isPlainlyAccepted(schema, value)
      const { ok } = check(value)
      if (isPlain && !ok) throw new Error('ajv refuses it')
      accepted += Number(ok)
      agreed += Number(isPlain)
    }
  }), { numRuns: 400 })
  t.ok(accepted > 500, `ajv accepts ${accepted}`)
  // Inherited members, and names that every object inherits, are for ajv.
  t.ok(agreed > accepted * 0.7, `${agreed} of them without ajv`)
})

t.test('leaves to ajv what is large, and keywords of which it has no copy', async (t) => {
  const list = Type.Array(Type.Integer())
  t.equal(isPlainlyAccepted(list, Array(900).fill(1)), true)
  t.equal(isPlainlyAccepted(list, Array(1100).fill(1)), false)
  t.equal(isPlainlyAccepted({ type: 'string', not: { const: 'a' } }, 'b'), false)
  t.equal(isPlainlyAccepted(Type.String({ format: 'date-time' }), '2026-11-25T00:00:00Z'), false)
})

t.test('a reader refuses the same values before and after it has compiled its format', async (t) => {
  for (const accepted of [0, 50, 250]) {
    const read = createReader(
      Type.Object({ name: Type.String() }, { additionalProperties: false }),
      (problems) => new Error(problems.join('; '))
    )
    for (let count = 0; count < accepted; count++) {
      const definition = { name: `tool-${count}` }
      t.equal(read(definition), definition)
    }
    t.throws(() => read({ name: 1 }), /name/)
    t.throws(() => read({ name: 'tool', other: 1 }), /other/)
  }
})
