// What one request may cost: each kind of request, as large as a body may be.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { checkCosts, countStoreUse, LARGE, posted, UNLIMITED } from '../../helpers/request-cost.ts'
import { toPost, type RequestParts } from '../../helpers/request.ts'
import { TASKS } from '../../features/tasks/task-client.ts'

const SCHEMAS: { readonly [name: string]: object } = {
  anything: { type: 'object' },
  closed: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
  unique: list({ type: 'object' }, { uniqueItems: true }),
  pattern: texts({ pattern: '\\s+$' }),
  nested: texts({ pattern: '^(a+)+$', maxLength: 40 }),
  format: texts({ format: 'email' }),
  contains: list({}, { contains: { const: 'x' } }),
  contained: list({}, {
    anyOf: [{ contains: { enum: ['x', 'y'] } }, { not: { contains: { minimum: 0 } } }]
  }),
  counted: list({}, { contains: { type: 'string' }, maxContains: 3 }),
  evaluated: list(undefined, {
    contains: { const: 'x' }, minContains: 0, unevaluatedItems: { type: 'number' }
  }),
  url: texts({ format: 'url' }),
  enumerated: list({ enum: Array.from({ length: 500 }, (_, id) => ({ id, name: `name ${id}` })) }),
  oneOf: list({
    oneOf: Array.from({ length: 50 }, (_, i) => ({
      type: 'object', properties: { [`p${i}`]: { type: 'string' } }, required: [`p${i}`]
    }))
  }),
  recursive: {
    type: 'object',
    properties: { tree: { $ref: '#/$defs/tree' } },
    $defs: {
      tree: {
        anyOf: [
          { type: 'array', items: { $ref: '#/$defs/tree' }, minItems: 2 },
          { type: 'array', items: { $ref: '#/$defs/tree' }, maxItems: 1 },
          { type: 'string' }
        ]
      }
    }
  }
}

function list (items: object | undefined, more: object = {}): object {
  return { type: 'object', properties: { list: { type: 'array', items, ...more } } }
}

function texts (schema: object): object {
  return { type: 'object', properties: { text: { type: 'string', ...schema } } }
}

function repeat<T> (count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + '"x"' + ']'.repeat(depth))
const members = (count: number) => Object.fromEntries(repeat(count, (i) => [`key ${i}`, i]))
const call = (name: string, args: object, meta: object = {}): RequestParts => ({
  method: 'tools/call',
  params: { name, arguments: args },
  meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }, ...meta }
})

const onTasks = (method: string, params: object): RequestParts => ({
  method,
  params: { ...params },
  meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS },
  // The HTTP server allows no header as long as the id.
  headers: { 'mcp-name': 'task' }
})

const KINDS: { readonly [kind: string]: RequestParts } = {
  'arguments of many members': call('anything', members(45_000)),
  'arguments of many unknown members': call('closed', members(45_000)),
  'arguments that are one text': call('anything', { text: 'x'.repeat(LARGE) }),
  'a text where an object is due': call('closed', { a: repeat(150_000, (i) => i) }),
  'deep arguments': call('anything', { deep: nested(3000) }),
  'unique items': call('unique', { list: repeat(40_000, (i) => ({ i })) }),
  'items that are not unique': call('unique', { list: repeat(40_000, (i) => ({ i: i % 39_999 })) }),
  'spaces before a pattern': call('pattern', { text: `${' '.repeat(LARGE - 1000)}x` }),
  'a nested pattern': call('nested', { text: `${'a'.repeat(30)}!` }),
  'a long text for a nested pattern': call('nested', { text: `${'a'.repeat(LARGE - 1000)}!` }),
  'a long email': call('format', { text: `${'a.'.repeat(LARGE / 2 - 1000)}!` }),
  'a list without a contained item': call('contains', { list: repeat(100_000, (i) => i) }),
  'a list that no branch contains': call('contained', { list: repeat(100_000, (i) => i) }),
  'a list of counted items': call('counted', { list: repeat(100_000, (i) => i) }),
  'a list of unevaluated items': call('evaluated', { list: repeat(100_000, (i) => i) }),
  'a long URL': call('url', { text: `http://${':'.repeat(LARGE - 1000)}` }),
  'a large enum': call('enumerated', { list: repeat(30_000, (i) => ({ id: i, name: 'x' })) }),
  'a oneOf of 50, 16 KB': call('oneOf', { list: repeat(900, (i) => ({ [`p${i % 50}`]: 'x' })) }),
  'a wrong oneOf of 50, 16 KB': call('oneOf', { list: repeat(900, (i) => ({ [`q${i % 50}`]: 'x' })) }),
  'a oneOf of 50': call('oneOf', { list: repeat(60_000, (i) => ({ [`p${i % 50}`]: 'x' })) }),
  'a recursive anyOf': call('recursive', { tree: nested(28) }),
  'a wide recursive anyOf': call('recursive', { tree: repeat(100_000, () => ['x']) }),
  'arguments of a tool that asks': call('asks', members(45_000)),
  'nested arguments of a tool that asks': call('asks', { list: repeat(60_000, () => [[[[]]]]) }),
  'a large _meta': call('anything', {}, { more: members(45_000) }),
  'nested arrays in _meta': call('anything', {}, { more: repeat(60_000, () => [[[[[]]]]]) }),
  'a long tool name': call('x'.repeat(LARGE), {}),
  'a long prompt name': { method: 'prompts/get', params: { name: 'x'.repeat(LARGE) } },
  'a large argument of a prompt': {
    method: 'prompts/get', params: { name: 'greeting', arguments: { who: 'x'.repeat(LARGE) } }
  },
  'many arguments of a prompt': {
    method: 'prompts/get',
    params: { name: 'greeting', arguments: Object.fromEntries(repeat(50_000, (i) => [`a${i}`, 'x'])) }
  },
  'an argument that a prompt uses often': {
    method: 'prompts/get', params: { name: 'repeats', arguments: { who: 'é'.repeat(52_000) } }
  },
  'an argument that makes a prompt too long': {
    method: 'prompts/get', params: { name: 'repeats', arguments: { who: 'x'.repeat(LARGE) } }
  },
  'a directory of as many files as may be read': {
    method: 'resources/read', params: { uri: 'file:///many/' }
  },
  'a long URI': { method: 'resources/read', params: { uri: `book://${'a/'.repeat(4000)}` } },
  // The HTTP server allows no header of this length.
  'a URI of the whole body': {
    method: 'resources/read',
    params: { uri: `book://${'é'.repeat(LARGE / 2)}` },
    headers: { 'mcp-name': 'book://x' }
  },
  'a long URI of a template with a query': {
    method: 'resources/read', params: { uri: `search://x?${'q=1&'.repeat(2000)}` }
  },
  'a long cursor': { method: 'tools/list', params: { cursor: 'x'.repeat(LARGE) } },
  'a long text to complete': {
    method: 'completion/complete',
    params: {
      ref: { type: 'ref/prompt', name: 'greeting' }, argument: { name: 'who', value: 'x'.repeat(LARGE) }
    }
  },
  'a long id of a task': onTasks('tasks/get', { taskId: 'x'.repeat(LARGE) }),
  'many answers to a task': onTasks('tasks/update', { taskId: 'task', inputResponses: members(45_000) }),
  'nested answers to a task': onTasks('tasks/update', {
    taskId: 'task', inputResponses: { a: repeat(60_000, () => [[[[]]]]) }
  }),
  'a long URI of a skill': { method: 'skills/get', params: { uri: 'x'.repeat(4000) } },
  'a long URI of a directory': {
    method: 'resources/directory/read', params: { uri: `skill://${'a/'.repeat(4000)}` }
  },
  'an unknown method': { method: 'x'.repeat(LARGE) },
  'many input responses': {
    method: 'tools/call',
    params: { name: 'asks', arguments: {}, inputResponses: members(45_000), requestState: 'x' }
  },
  'a long request state': {
    method: 'tools/call',
    params: {
      name: 'asks',
      arguments: {},
      inputResponses: { a: { action: 'accept' } },
      requestState: 'x'.repeat(LARGE)
    }
  }
}

const tools = Object.entries(SCHEMAS).map(([name, inputSchema]) => (
  `export const ${name} = defineTool({ name: '${name}', description: 'A tool.', ` +
    `inputSchema: ${JSON.stringify(inputSchema)}, run: () => 'done' })`
))

const FILES = {
  'tools/tools.ts': `import { defineTool, elicit } from 'trivet'
${tools.join('\n')}
export const asks = defineTool({
  name: 'asks', description: 'Asks.', inputSchema: { type: 'object' },
  run: async (_, ctx) => JSON.stringify(await ctx.ask({
    a: elicit.form({ message: 'Sure?', schema: { type: 'object', properties: {} } })
  }))
})`,
  'prompts/greeting.md': '---\ndescription: P.\narguments:\n  - name: who\n---\nHello {{who}}.\n',
  'prompts/repeats.md': `---\ndescription: P.\narguments:\n  - name: who\n---\n${'{{who}}'.repeat(20)}\n`,
  ...Object.fromEntries(repeat(100, (i) => [`resources/many/${i}.txt`, 'x'.repeat(1000)])),
  'resources/book.resource.ts': `import { defineResourceTemplate } from 'trivet'
export const book = defineResourceTemplate({
  uriTemplate: 'book://{id}', name: 'book', read: ({ id }) => id
})
export const search = defineResourceTemplate({
  uriTemplate: 'search://{place}{?q,r,s,t}', name: 'search', read: () => 'found'
})`
}

t.test('no kind of request costs more CPU time than its limit, or reads the store', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, FILES, { constants: UNLIMITED })
  await checkCosts(t, use, Object.entries(KINDS).map(([kind, parts]) => ({
    ...posted(app, kind, toPost(parts)),
    // A hundred files are opened: 40 ms, and more beside other work.
    ...(kind === 'a directory of as many files as may be read' && { maxMs: 100 })
  })))
})
