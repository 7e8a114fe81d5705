import { symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import t from 'tap'
import { Type } from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import { createApp } from '../../src/app.ts'
import { compileTool, type CompiledTool } from '../../src/catalog/compile-tool.ts'
import { defineTool } from '../../src/index.ts'
import { createSchemaCompiler } from '../../src/schema/json-schema.ts'
import { buildApp } from '../helpers/app.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { send, type Message } from '../helpers/request.ts'

const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`

/** Compiles a tool and the reported problems, as `place: rule`. */
function compile (
  definition: ReturnType<typeof defineTool>
): { tool: CompiledTool | undefined, problems: string[] } {
  const problems: string[] = []
  const compilers = {
    input: createSchemaCompiler({ useDefaults: true }), output: createSchemaCompiler({ useDefaults: false })
  }
  return {
    tool: compileTool(definition, compilers, (place, rule) => problems.push(`${place}: ${rule}`)), problems
  }
}

const entryOf = (tool: CompiledTool | undefined): Message => JSON.parse(tool?.json ?? 'null')

t.test('passes schemas through as they were written (110, 114)', async (t) => {
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
  const { tool, problems } = compile(defineTool({ name: 'a', inputSchema, outputSchema, run: () => null }))
  t.strictSame(problems, [])
  t.equal(JSON.stringify(entryOf(tool).inputSchema), JSON.stringify(inputSchema))
  t.equal(JSON.stringify(entryOf(tool).outputSchema), JSON.stringify(outputSchema))
})

t.test('lists what clients may show, and nothing that is the service\'s own business (137, 138)', async (
  t
) => {
  const icons =
    "[{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' }, { " +
      "src: 'data:image/png;base64,AA==' }]"
  const common =
    `title: 'Title', description: 'Description', icons: ${icons}, _meta: { 'com.example/x': { y: [1] } }, order: 1, scopes: []`
  const app = await buildApp(t, {
    'tools/a.ts': moduleOf(
      `export default defineTool({ name: 'a', ${common}, annotations: { title: 'T', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }, requiredCapabilities: { sampling: {} }, timeoutMs: 5, run: () => '' })`
    ),
    'prompts/a.ts': moduleOf(
      `export default definePrompt({ name: 'a', ${common}, arguments: [{ name: 'x', title: 'X', description: 'An x.', required: true, complete: ['1'] }], render: () => '' })`
    ),
    'resources/a.resource.ts': moduleOf(`const readable = { name: 'a', ${common}, mimeType: 'text/x-a', annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }, cache: { ttlMs: 1 }, read: () => '' }
      export const a = defineResource({ ...readable, uri: 'x://a', size: 5 })
      export const b = defineResourceTemplate({ ...readable, uriTemplate: 'x://b/{id}', complete: { id: ['1'] } })`)
  })
  const shown = {
    name: 'a',
    title: 'Title',
    description: 'Description',
    icons: [
      { src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' },
      { src: 'data:image/png;base64,AA==' }
    ],
    _meta: { 'com.example/x': { y: [1] } }
  }
  const readable = {
    mimeType: 'text/x-a',
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
  }
  const listOf = async (method: string, member: string): Promise<Message> => (
    await send(app, { method })
  ).response.result[member]
  t.strictSame(await listOf('tools/list', 'tools'), [{
    ...shown,
    annotations: {
      title: 'T', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false
    },
    inputSchema: { type: 'object', additionalProperties: false }
  }], 'a tool without a schema takes no arguments (113)')
  t.strictSame(await listOf('prompts/list', 'prompts'), [
    { ...shown, arguments: [{ name: 'x', title: 'X', description: 'An x.', required: true }] }
  ])
  t.strictSame(await listOf('resources/list', 'resources'), [
    { ...shown, ...readable, uri: 'x://a', size: 5 }
  ])
  t.strictSame(await listOf('resources/templates/list', 'resourceTemplates'), [
    { ...shown, ...readable, uriTemplate: 'x://b/{id}' }
  ])
})

t.test('orders lists by `order`, then by name, code unit by code unit (108)', async (t) => {
  const tools = [
    ['b', 0], ['a', 1], ['B', 0], ['_', 0], ['a10', 0], ['a9', 0], ['z', -1], ['y', -1.5]
  ] as const
  const app = await buildApp(t, {
    'tools/all.ts': moduleOf(
      `export default ${JSON.stringify(tools)}.map(([name, order]) => defineTool({ name, order, run: () => '' }))`
    )
  })
  const { result } = (await send(app, { method: 'tools/list' })).response
  t.strictSame(result.tools.map(({ name }: Message) => name), ['y', 'z', 'B', '_', 'a10', 'a9', 'b', 'a'])
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

t.test('a catalog whose node_modules has the libraries may use each of them', async (t) => {
  const root = await writeCatalog(t, {
    'tools/all.ts': `import { defineTool } from 'trivet'
      import { toStandardJsonSchema } from '@valibot/to-json-schema'
      import { type } from 'arktype'
      import { Type } from 'typebox'
      import * as v from 'valibot'
      import { z } from 'zod'
      const run = (args: object) => JSON.stringify(args)
      export default [
        defineTool({ name: 'arktype', inputSchema: type({ n: 'number = 5' }), run }),
        defineTool({ name: 'plain', inputSchema: { type: 'object', properties: { n: { type: 'number', default: 5 } } }, run }),
        defineTool({ name: 'typebox', inputSchema: Type.Object({ n: Type.Number({ default: 5 }) }), run }),
        defineTool({ name: 'valibot', inputSchema: toStandardJsonSchema(v.object({ n: v.optional(v.number(), 5) })), run }),
        defineTool({ name: 'zod', inputSchema: z.object({ n: z.number().default(5).transform((n) => n + 1) }), run })
      ]`
  })
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), `${root}/node_modules`)
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

t.test('reports a schema of a library that cannot say what it is', async (t) => {
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

t.test('reports a bad name whatever the schema holds', async (t) => {
  const circular: { [key: string]: unknown } = { type: 'object' }
  circular.self = circular
  for (const inputSchema of [...Object.values(KINDS), z.object({ n: z.bigint().default(5n) }), circular]) {
    t.match(compile(defineTool({ name: 'a b', inputSchema, run: () => '' })).problems, [
      /^: name: must match pattern/
    ])
  }
})

t.test('lists the resources that a template names, by URI or by variables, with its type unless they have ' +
  'their own (150, 153)', async (t) => {
  const app = await buildApp(t, {
    'resources/t.resource.ts': moduleOf(`export default defineResourceTemplate({
      uriTemplate: 'x://{kind}/{id}{?page}', name: 't', mimeType: 'text/x-t', title: 'not theirs', complete: {},
      list: async () => [
        { uri: 'x://a/1', name: 'by uri', title: 'One', size: 1, annotations: { priority: 1 } },
        { variables: { kind: 'b c', id: 'ü/2', page: '3' }, name: 'by variables', mimeType: 'text/x-own' },
        { variables: { kind: 'b', id: '3' }, name: 'without a page' },
        { uri: 'elsewhere://1', name: 'of another template', _meta: { 'com.example/x': 1 } }
      ],
      read: (variables) => JSON.stringify(variables)
    })`)
  })
  const { result } = (await send(app, { method: 'resources/list' })).response
  t.strictSame(result.resources, [
    {
      uri: 'elsewhere://1', name: 'of another template', mimeType: 'text/x-t', _meta: { 'com.example/x': 1 }
    },
    {
      uri: 'x://a/1',
      name: 'by uri',
      title: 'One',
      mimeType: 'text/x-t',
      annotations: { priority: 1 },
      size: 1
    },
    { uri: 'x://b%20c/%C3%BC%2F2?page=3', name: 'by variables', mimeType: 'text/x-own' },
    { uri: 'x://b/3', name: 'without a page', mimeType: 'text/x-t' }
  ])
  const { result: read } = (
    await send(app, { method: 'resources/read', params: { uri: 'x://b%20c/%C3%BC%2F2?page=3' } })
  ).response
  t.strictSame(read.contents, [
    { uri: 'x://b%20c/%C3%BC%2F2?page=3', mimeType: 'text/x-t', text: '{"kind":"b c","id":"ü/2","page":"3"}' }
  ])
})
