// The checks of own formats that the build writes decide as those that ajv compiles in the process.

import type { ValidateFunction } from 'ajv'
import { build } from 'esbuild'
import fc from 'fast-check'
import t from 'tap'
import { writeChecks } from '../../../build/built-checks.mjs'
import { createInstances, OWN_FORMATS } from '../../../src/platform/schema/ajv-instances.ts'
import { startCheck, withCosts } from '../../../src/platform/schema/check-cost.ts'
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

interface Built {
  readonly builtChecks: ReadonlyMap<string, ValidateFunction>
  startCheck: typeof startCheck
}

/** Evaluates the module that the build would have in the place of the empty one. */
async function buildChecks (schemas: readonly FormatSchema[]): Promise<Built> {
  const module = await writeChecks(
    new Set(schemas.map((schema) => JSON.stringify(schema))), { createInstances, OWN_FORMATS, withCosts }
  )
  const { outputFiles: [file] } = await build({
    stdin: {
      contents: `${module}\nexport { startCheck } from './check-cost.ts'`, resolveDir: 'src/platform/schema'
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false
  })
  return await import(`data:text/javascript;base64,${Buffer.from(file?.contents ?? []).toString('base64')}`)
}

t.test('accept what ajv accepts, and refuse the rest for the same reasons', async (t) => {
  const schemas = fc.sample(schema, { numRuns: 300, seed: 7 })
  const { builtChecks, startCheck: startBuilt } = await buildChecks(schemas)
  const ajv = createInstances(OWN_FORMATS)('2020-12')
  let [accepted, refused] = [0, 0]
  for (const [index, schema] of schemas.entries()) {
    const built = builtChecks.get(JSON.stringify(schema))
    const compiled = ajv.compile(withCosts(schema))
    for (const given of fc.sample(value, { numRuns: 30, seed: index })) {
      startCheck(10_000)
      startBuilt(10_000)
      const isAccepted = compiled(given)
      if (built?.(given) !== isAccepted) t.fail('another verdict', { schema, given })
      if (JSON.stringify(built?.errors) !== JSON.stringify(compiled.errors)) {
        t.fail('other problems', { schema, given, built: built?.errors, compiled: compiled.errors })
      }
      if (isAccepted) accepted++
      else refused++
    }
  }
  t.ok(accepted > 500, `${accepted} accepted`)
  t.ok(refused > 500, `${refused} refused`)
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
