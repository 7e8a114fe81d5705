import { symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import t from 'tap'
import { Type } from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import { createApp } from '../../../src/app/app.ts'
import { createSchemaCompilers } from '../../../src/catalog/compiled/definitions/compile-schema.ts'
import type { CompiledTool } from '../../../src/catalog/compiled/compiled-primitive.ts'
import { compileTool } from '../../../src/catalog/compiled/definitions/compile-tool.ts'
import { defineTool } from '../../../src/index.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { send, type Message } from '../../helpers/request.ts'

/** Compiles a tool and the reported problems, as `place: rule`. */
function compile (
  definition: ReturnType<typeof defineTool>, schemas?: 'auto' | 'as-written'
): { tool: CompiledTool | undefined, problems: string[] } {
  const problems: string[] = []
  return {
    tool: compileTool(
      { definition, file: 'tools/a.ts' }, createSchemaCompilers(),
      (place, rule) => problems.push(`${place}: ${rule}`), { schemas }
    ),
    problems
  }
}

const entryOf = (tool: CompiledTool | undefined): Message => JSON.parse(tool?.json ?? 'null')

t.test('sends schemas as the author wrote them, if the catalog says so (110, 114)', async (t) => {
  const inputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.com/schemas/order',
    $comment: 'kept',
    type: 'object',
    title: 'Order',
    $defs: {
      address: {
        $anchor: 'address',
        type: 'object',
        properties: { street: { type: 'string' } },
        'x-vendor': { any: ['thing'] }
      }
    },
    properties: {
      to: { $ref: '#address' },
      kind: { enum: ['a', 'b', null], default: 'a' },
      count: { type: 'integer', minimum: 1, maximum: 10, examples: [5] },
      region: { type: 'string', 'x-mcp-header': 'Region' },
      tags: {
        type: 'array', prefixItems: [{ const: 1 }], items: false, contains: { const: 1 }, minContains: 1
      },
      constructor: { type: 'string' },
      ü: { type: 'string', format: 'date-time', pattern: '^\\d+$' }
    },
    required: ['to'],
    allOf: [
      {
        if: { properties: { kind: { const: 'b' } } },
        then: { required: ['count'] },
        else: { not: { required: ['count'] } }
      }
    ],
    anyOf: [{ required: ['kind'] }, true],
    oneOf: [{ properties: { to: true } }],
    dependentRequired: { tags: ['region'] },
    patternProperties: { '^x-': {} },
    propertyNames: { maxLength: 20 },
    unevaluatedProperties: false,
    additionalProperties: false
  }
  const outputSchema: object = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { a: { type: 'string' } },
    type: ['array', 'null'],
    items: { $ref: '#/definitions/a' }
  }
  const definition = defineTool({ name: 'a', inputSchema, outputSchema, run: () => null })
  const { tool, problems } = compile(definition, 'as-written')
  t.strictSame(problems, [])
  t.equal(JSON.stringify(entryOf(tool).inputSchema), JSON.stringify(inputSchema))
  t.equal(JSON.stringify(entryOf(tool).outputSchema), JSON.stringify(outputSchema))
  const { tool: automatic } = compile(definition)
  t.equal(JSON.stringify(entryOf(automatic).inputSchema), JSON.stringify(inputSchema), 'it has an anchor')
  t.strictSame(entryOf(automatic).outputSchema, {
    $schema: 'http://json-schema.org/draft-07/schema#', type: ['array', 'null'], items: { type: 'string' }
  })
})

const valibot = toStandardJsonSchema(v.object({ n: v.optional(v.number(), 5), s: v.string() }))
const KINDS = {
  'JSON Schema': {
    type: 'object', properties: { n: { type: 'number', default: 5 }, s: { type: 'string' } }, required: ['s']
  },
  'draft-07': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'number', default: 5 }, s: { type: 'string' } },
    required: ['s']
  },
  TypeBox: Type.Object({ n: Type.Optional(Type.Number({ default: 5 })), s: Type.String() }),
  Zod: z.object({ n: z.number().default(5), s: z.string() }),
  Valibot: valibot,
  ArkType: type({ n: 'number = 5', s: 'string' })
}

for (const [kind, schema] of Object.entries(KINDS)) {
  t.test(`checks arguments against a schema of ${kind}, and fills in its defaults (126)`, async (t) => {
    const { tool, problems } = compile(
      defineTool({ name: 'a', inputSchema: schema, outputSchema: schema, run: () => ({ s: 'x' }) })
    )
    t.strictSame(problems, [])
    t.strictSame(await tool?.checkInput({ s: 'x' }), { ok: true, value: { n: 5, s: 'x' } })
    t.match(await tool?.checkInput({ n: 'x' }), { ok: false, problems: [/^(?:n|s): /, /^(?:n|s): /] })
    t.match(await tool?.checkOutput?.({ s: 5 }), { ok: false, problems: [/^s: /] })
    const { inputSchema, outputSchema } = entryOf(tool)
    t.match(inputSchema, {
      type: 'object', properties: { n: { type: 'number' }, s: { type: 'string' } }, required: ['s']
    })
    // ArkType leaves defaults out of its JSON Schema.
    t.equal(inputSchema.properties.n.default, kind === 'ArkType' ? undefined : 5)
    t.strictSame(inputSchema.required, ['s'], 'what has a default need not be sent')
    t.match(outputSchema, { type: 'object', properties: { s: { type: 'string' } } })
    t.strictSame(Object.keys(inputSchema).filter((key) => key.startsWith('~')), [])
  })
}

t.test('a catalog may use each library of its node_modules', async (t) => {
  const root = await writeCatalog(t, {
    'tools/all.ts': `import { defineTool } from 'trivet'
      import { toStandardJsonSchema } from '@valibot/to-json-schema'
      import { type } from 'arktype'
      import { Type } from 'typebox'
      import * as v from 'valibot'
      import { z } from 'zod'
      const run = (args: object) => JSON.stringify(args)
      const plain = { type: 'object', properties: { n: { type: 'number', default: 5 } } }
      const valibot = toStandardJsonSchema(v.object({ n: v.optional(v.number(), 5) }))
      const zod = z.object({ n: z.number().default(5).transform((n) => n + 1) })
      export default [
        defineTool({ name: 'arktype', inputSchema: type({ n: 'number = 5' }), run }),
        defineTool({ name: 'plain', inputSchema: plain, run }),
        defineTool({ name: 'typebox', inputSchema: Type.Object({ n: Type.Number({ default: 5 }) }), run }),
        defineTool({ name: 'valibot', inputSchema: valibot, run }),
        defineTool({ name: 'zod', inputSchema: zod, run })
      ]`
  })
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), `${root}/node_modules`)
  const app = await createApp({ catalog: root, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' })
  t.teardown(async () => await app.close())
  const call = async (name: string, args: object): Promise<Message> => (
    await send(app, { method: 'tools/call', params: { name, arguments: args } })
  ).response.result
  for (const name of ['arktype', 'plain', 'typebox', 'valibot']) {
    t.equal((await call(name, {})).content[0].text, '{"n":5}', name)
  }
  t.equal((await call('zod', {})).content[0].text, '{"n":6}', 'a transform has been applied')
  for (const name of ['arktype', 'plain', 'typebox', 'valibot', 'zod']) {
    const { isError, content } = await call(name, { n: 'five' })
    t.equal(isError, true, name)
    t.match(content[0].text, new RegExp(`^Invalid arguments for ${name}:\\n- n: .*number`), name)
  }
})

t.test('a catalog may use zod/mini, and gets the way out for Zod 3', async (t) => {
  const toolOf = (library: string, schema: string): Files => ({
    'tools/a.ts': `import { defineTool } from 'trivet'
      import * as z from '${library}'
      const inputSchema = ${schema}
      export default defineTool({ name: 'a', inputSchema, run: (args) => JSON.stringify(args) })`
  })
  const load = async (files: Files) => {
    const root = await writeCatalog(t, files)
    await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), `${root}/node_modules`)
    const app = await createApp({ catalog: root, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' })
    t.teardown(async () => await app.close())
    return app
  }
  const mini = await load(toolOf(
    'zod/mini', `z.object({
      n: z._default(z.number(), 5), s: z.string().register(z.globalRegistry, { description: 'S' })
    })`
  ))
  const { tools: [tool] } = (await send(mini, { method: 'tools/list' })).response.result
  t.match(tool.inputSchema, {
    type: 'object',
    properties: { n: { type: 'number', default: 5 }, s: { type: 'string', description: 'S' } },
    required: ['s']
  })
  const call = async (args: object) => (
    await send(mini, { method: 'tools/call', params: { name: 'a', arguments: args } })
  ).response.result
  t.equal((await call({ s: 'x' })).content[0].text, '{"n":5,"s":"x"}')
  t.match(await call({ s: 1 }), { isError: true, content: [{ text: /- s: .*string/ }] })
  const schema = 'z.object({ n: z.number() })'
  // Until 3.24 a schema of Zod has no mark of Standard Schema.
  for (const text of [schema, `Object.assign(Object.create(null), { _def: ${schema}._def })`]) {
    await t.rejects(
      load(toolOf('zod/v3', text)),
      /tools\/a\.ts: inputSchema: a schema of Zod 3, .*; use Zod 4 \(Zod 3\.25 has it as zod\/v4\), or/
    )
  }
})

t.test('reports a schema of a library that has no JSON Schema', async (t) => {
  const cases: ReadonlyArray<readonly [object, RegExp]> = [
    [
      v.object({ n: v.number() }),
      /^inputSchema: a valibot schema that cannot describe itself as JSON Schema; wrap it/
    ],
    [
      z.object({ n: z.custom<Date>() }).and(z.object({ d: z.date() })),
      /^inputSchema: the zod schema has no JSON Schema: /
    ],
    [z.string(), /^inputSchema: must have "type": "object" at its root, got "string"/]
  ]
  for (const [inputSchema, problem] of cases) {
    const { tool, problems } = compile(defineTool({ name: 'a', inputSchema, run: () => '' }))
    t.equal(tool, undefined)
    t.match(problems, [problem])
  }
})

t.test('reports an invalid name, whatever the schema is', async (t) => {
  const circular: { [key: string]: unknown } = { type: 'object' }
  circular.self = circular
  for (const inputSchema of [...Object.values(KINDS), z.object({ n: z.bigint().default(5n) }), circular]) {
    t.match(compile(defineTool({ name: 'a b', inputSchema, run: () => '' })).problems, [
      /^: name: must match pattern/
    ])
  }
})
