import * as fs from 'node:fs'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import t from 'tap'
import * as v from 'valibot'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { z as z3 } from 'zod/v3'
import { SchemaError } from '../../../src/platform/schema/json-schema.ts'
import {
  isStandardSchema, noteSchemaLibrary, toCheck, toJsonSchema
} from '../../../src/platform/schema/standard-schema.ts'

// The same arguments in three libraries: a city of at least two letters, and days that default to 3.
const libraries = {
  zod: z.object({ city: z.string().min(2), days: z.number().default(3) }),
  valibot: toStandardJsonSchema(v.object({
    city: v.pipe(v.string(), v.minLength(2)), days: v.optional(v.number(), 3)
  })),
  arktype: type({ city: 'string >= 2', days: 'number = 3' })
}

for (const [library, schema] of Object.entries(libraries)) {
  t.test(`${library}: is a Standard Schema`, async (t) => {
    t.ok(isStandardSchema(schema))
  })

  t.test(`${library}: describes the input as JSON Schema: a default makes a property optional`, async (t) => {
    const json = toJsonSchema(schema, 'input')
    t.match(json, {
      type: 'object', properties: { city: { type: 'string', minLength: 2 }, days: { type: 'number' } }
    })
    t.same(json.required, ['city'])
    t.doesNotThrow(() => JSON.stringify(json))
  })

  t.test(`${library}: describes the output as JSON Schema`, async (t) => {
    t.match(toJsonSchema(schema, 'output'), {
      type: 'object', properties: { city: { type: 'string' }, days: { type: 'number' } }
    })
  })

  t.test(`${library}: accepts a value with its defaults filled in`, async (t) => {
    t.same(await toCheck(schema)({ city: 'Oslo' }), { ok: true, value: { city: 'Oslo', days: 3 } })
  })

  t.test(`${library}: refuses a value and names the argument`, async (t) => {
    const verdict = await toCheck(schema)({ city: 1 })
    t.notOk(verdict.ok)
    t.match(verdict, { problems: [/^city: /] })
  })

  t.test(`${library}: refuses a value that is not an object`, async (t) => {
    t.match(await toCheck(schema)(null), { ok: false, problems: [/^value: /] })
  })
}

t.test('returns the value that a transform made', async (t) => {
  const transforms = [
    z.object({ ids: z.string().transform((text) => text.split(',')) }),
    v.object({ ids: v.pipe(v.string(), v.transform((text) => text.split(','))) }),
    type({ ids: type('string').pipe((text) => text.split(',')) })
  ]
  for (const schema of transforms) {
    t.same(await toCheck(schema)({ ids: 'a,b' }), { ok: true, value: { ids: ['a', 'b'] } })
  }
})

t.test('describes the input of a transform, whose output JSON Schema cannot describe', async (t) => {
  const schema = z.object({ ids: z.string().transform((text) => text.split(',')) })
  t.match(toJsonSchema(schema, 'input'), { properties: { ids: { type: 'string' } } })
  t.throws(() => toJsonSchema(schema, 'output'), SchemaError)
})

t.test('awaits an asynchronous check', async (t) => {
  const schema = z.object({ sku: z.string().refine(async (sku) => sku === 'known', 'is not sold here') })
  const check = toCheck(schema)
  t.same(await check({ sku: 'known' }), { ok: true, value: { sku: 'known' } })
  t.same(await check({ sku: 'x' }), {
    ok: false, problems: ['sku: is not sold here'], places: new Set(['sku'])
  })
})

t.test('names the place inside lists and objects', async (t) => {
  const check = toCheck(z.object({ lines: z.array(z.object({ sku: z.string() })) }))
  t.match(await check({ lines: [{ sku: 'a' }, {}] }), { problems: [/^lines\.1\.sku: /] })
})

t.test('stops at eight problems', async (t) => {
  const verdict = await toCheck(z.array(z.string()))(Array.from({ length: 20 }, () => 1))
  t.equal(verdict.ok ? 0 : verdict.problems.length, 8)
})

t.test('refuses a type that JSON does not have, and names the library', async (t) => {
  t.throws(() => toJsonSchema(z.object({ at: z.date() }), 'input'), {
    name: 'SchemaError', message: /^the zod schema has no JSON Schema: .*Date/
  })
})

t.test('refuses a schema that cannot describe itself, and says what to do', async (t) => {
  t.throws(() => toJsonSchema(v.object({ a: v.string() }), 'input'), {
    name: 'SchemaError', message: /^a valibot schema that cannot describe itself .*toStandardJsonSchema/
  })
})

t.test('finds the JSON Schema of zod/mini once its package is noted', async (t) => {
  const schema = mini.object({ n: mini._default(mini.number(), 5), s: mini.string() })
  t.throws(() => toJsonSchema(schema, 'input'), {
    name: 'SchemaError',
    message: /^a schema of Zod 4\.\d+\.\d+ that cannot .*; import its zod .*z\.toJSONSchema\(schema\)$/
  })
  const others = [{ toJSONSchema: () => ({}) }, { core: { version: { major: 4 } } }, { core: null }, fs]
  for (const other of others) noteSchemaLibrary(other)
  t.throws(() => toJsonSchema(schema, 'input'), { name: 'SchemaError' }, 'other packages do not count')
  noteSchemaLibrary(mini)
  const zod = z.object({ n: z.number().default(5), s: z.string() })
  for (const direction of ['input', 'output'] as const) {
    t.strictSame(toJsonSchema(schema, direction), toJsonSchema(zod, direction))
  }
  t.throws(() => toJsonSchema(mini.object({ at: mini.date() }), 'input'), {
    name: 'SchemaError', message: /^the zod schema has no JSON Schema: .*Date/
  })
})

t.test('refuses a schema of Zod 3, and says what to do', async (t) => {
  t.throws(() => toJsonSchema(z3.object({ a: z3.string() }), 'input'), {
    name: 'SchemaError', message: /^a schema of Zod 3, .*use Zod 4 .*zod-to-json-schema/
  })
})

t.test('takes no other value for a Standard Schema', async (t) => {
  for (const value of [{ type: 'object' }, null, undefined, 'x', () => 1, []]) {
    t.notOk(isStandardSchema(value))
  }
})
