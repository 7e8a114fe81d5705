import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import t from 'tap'
import { Type } from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import { elicit } from '../../../src/platform/author/input-request.ts'
import { paramsOf, problemOf } from './asking.ts'

t.test('a schema of a library is sent with the keywords of forms only (226)', async (t) => {
  const schemas: ReadonlyArray<readonly [
    library: string, schema: object, properties: object, required: readonly string[]
  ]> = [
    ['Zod', z.object({
      email: z.email(),
      n: z.int().positive().max(9).default(3),
      size: z.enum(['s', 'm']),
      tags: z.array(z.enum(['p', 'q'])).min(1),
      only: z.literal('x'),
      ok: z.boolean().optional()
    }),
    {
      email: { type: 'string', format: 'email' },
      n: { type: 'integer', maximum: 9, default: 3 },
      size: { type: 'string', enum: ['s', 'm'] },
      tags: { type: 'array', minItems: 1, items: { type: 'string', enum: ['p', 'q'] } },
      only: { type: 'string', enum: ['x'] },
      ok: { type: 'boolean' }
    }, ['email', 'size', 'tags', 'only']],
    ['Valibot', toStandardJsonSchema(
      v.object({ name: v.pipe(v.string(), v.minLength(2)), size: v.picklist(['s', 'm']) })
    ),
    { name: { type: 'string', minLength: 2 }, size: { type: 'string', enum: ['s', 'm'] } }, [
      'name', 'size'
    ]],
    [
      'ArkType', type({ name: 'string', 'size?': "'s' | 'm'" }),
      { name: { type: 'string' }, size: { type: 'string', enum: ['m', 's'] } }, ['name']
    ],
    ['TypeBox', Type.Object({
      name: Type.String(), size: Type.Optional(Type.Enum(['s', 'm'])), only: Type.Literal('x')
    }),
    {
      name: { type: 'string' },
      size: { type: 'string', enum: ['s', 'm'] },
      only: { type: 'string', enum: ['x'] }
    }, ['name', 'only']]
  ]
  for (const [library, schema, properties, required] of schemas) {
    const params = await paramsOf(elicit.form({ message: 'm', schema }))
    t.same(
      params,
      {
        mode: 'form',
        message: 'm',
        requestedSchema: { type: 'object', properties: sortChoices(params, properties), required }
      },
      library
    )
  }
})

/** The order of ArkType's choices is not fixed. */
function sortChoices (params: unknown, properties: object): object {
  const sent = JSON.stringify(params)
  return sent.includes('["s","m"]')
    ? JSON.parse(JSON.stringify(properties).replace('["m","s"]', '["s","m"]'))
    : properties
}

t.test('ask rejects a schema of a library that makes no form (226)', async (t) => {
  t.match(
    await problemOf(elicit.form({ message: 'm', schema: z.object({ a: z.object({}) }) })),
    /properties\.a\.type: must be string/
  )
  t.match(
    await problemOf(elicit.form({ message: 'm', schema: z.object({ a: z.string().nullable() }) })),
    /properties\.a\.type: must be string/
  )
  t.match(
    await problemOf(elicit.form({ message: 'm', schema: z.object({ a: z.uuid() }) })),
    /properties\.a\.format: must be one of/
  )
  t.match(
    await problemOf(elicit.form({ message: 'm', schema: z.object({ a: z.date() }) })),
    /the zod schema has no JSON Schema/
  )
  t.match(await problemOf(elicit.form({ message: 'm', schema: z.string() })), /type: must be "object"/)
})
