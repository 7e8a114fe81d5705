// The checks of own formats that the build writes decide as those that ajv compiles in the process.

import type { ValidateFunction } from 'ajv'
import fc from 'fast-check'
import t from 'tap'
import { writeChecks } from '../../../build/built-checks.mjs'
import { createInstances, OWN_FORMATS, SCOPE } from '../../../src/platform/schema/ajv-instances.ts'
import { startCheck, withCosts } from '../../../src/platform/schema/check-cost.ts'
import { compileWith, createCheck, createPair } from '../../../src/platform/schema/json-schema.ts'
import { createReader } from '../../../src/platform/schema/reader.ts'
import { Type, type FormatSchema } from '../../../src/platform/schema/type.ts'

const NAMES = ['a', 'b', 'toString', '__proto__'] as const
const TEXTS = ['', 'a', 'b', '😀', 'ab', 'urn:a', '2026-11-25', 'toString'] as const

const size = fc.integer({ min: 0, max: 3 })
const text = fc.oneof(
  fc.record({ minLength: size }), fc.record({ maxLength: size }), fc.constant({}),
  fc.record({ pattern: fc.constantFrom('^a', '^(?:a|b)*$', '😀') }),
  fc.record({ format: fc.constantFrom('uri', 'date', 'iso-date-time') })
)
const bounds = fc.oneof(fc.record({ minimum: size }), fc.record({ maximum: size }), fc.constant({}))
const items = fc.oneof(
  fc.record({ minItems: size }), fc.record({ maxItems: size }), fc.constant({ uniqueItems: true }),
  fc.constant({})
)
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

/** Evaluates the module that the build writes. */
async function buildChecks (
  schemas: readonly FormatSchema[]
): Promise<ReadonlyMap<string, ValidateFunction>> {
  const formats = new Set(schemas.map((schema) => JSON.stringify(schema)))
  const module = await writeChecks(formats, { createInstances, OWN_FORMATS, SCOPE, withCosts })
  const { createBuiltChecks } = await import(`data:text/javascript,${encodeURIComponent(module)}`)
  return createBuiltChecks(SCOPE)
}

t.test('accept what ajv accepts', async (t) => {
  const schemas = fc.sample(schema, { numRuns: 300, seed: 7 })
  const builtChecks = await buildChecks(schemas)
  const ajv = createInstances(OWN_FORMATS)('2020-12')
  let [accepted, refused] = [0, 0]
  for (const [index, schema] of schemas.entries()) {
    const built = builtChecks.get(JSON.stringify(schema))
    const compiled = ajv.compile(withCosts(schema))
    for (const candidate of fc.sample(value, { numRuns: 30, seed: index })) {
      startCheck(10_000)
      const isAccepted = compiled(candidate)
      if (built?.(candidate) !== isAccepted) t.fail('another verdict', { schema, candidate })
      if (isAccepted) accepted++
      else refused++
    }
  }
  t.ok(accepted > 500, `${accepted} accepted`)
  t.ok(refused > 500, `${refused} refused`)
})

t.test('a refused value has the same problems with a built check', async (t) => {
  const shape = Type.Object({ name: Type.String({ maxLength: 3 }), tags: Type.Array(Type.Enum(['a', 'b'])) })
  const built = (await buildChecks([shape])).get(JSON.stringify(shape))
  const compile = (kind: 'fast' | 'complete') => compileWith(createPair(OWN_FORMATS)[kind]('2020-12'), shape)
  const large = { name: 'long', tags: [...Array(5000).fill('a'), 'c', 'd'] }
  for (const candidate of [1, {}, { name: 'long', tags: ['c', 'd'] }, large]) {
    const verdict = createCheck(compile, true, true, shape, built)(candidate)
    t.equal(verdict.ok, false)
    t.same(verdict, createCheck(compile, true, true, shape)(candidate))
  }
})

t.test('a reader refuses the same values before and after many', async (t) => {
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
