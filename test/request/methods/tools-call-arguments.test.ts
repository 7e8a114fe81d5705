import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send, toPost } from '../../helpers/request.ts'

const call = (name: string, args?: unknown) => ({
  method: 'tools/call', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})

const ORDER = `inputSchema: {
  type: 'object',
  properties: {
    size: { enum: ['S', 'M'] }, count: { type: 'integer', minimum: 1, default: 1 }, note: { type: 'string' },
    lines: {
      type: 'array',
      items: {
        type: 'object', properties: { sku: { type: 'string', pattern: '^[a-z]+$' } }, required: ['sku']
      }
    }
  },
  required: ['size'],
  additionalProperties: false
}`

const TREE = `inputSchema: {
  type: 'object',
  properties: { child: { $ref: '#/$defs/node' } },
  additionalProperties: false,
  $defs: {
    node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, additionalProperties: false }
  }
}`

/** `{"child":{"child":…}}` of this depth. */
function nested (depth: number, key = 'child'): object {
  let value = {}
  for (let i = 0; i < depth; i++) value = { [key]: value }
  return value
}

t.test('an unknown tool and a malformed call are protocol errors (122, 123)', async (t) => {
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a') })
  for (const [params, message] of [
    [{ name: 'b' }, 'Tool b not found'],
    [{ name: 'A' }, 'Tool A not found'],
    [{ name: '' }, 'Tool  not found'],
    [{ name: '__proto__' }, 'Tool __proto__ not found'],
    [{}, /^Invalid params: name: is required/],
    [{ name: 1 }, /^Invalid params: name: must be string, got 1/],
    [{ name: 'a', arguments: [] }, /^Invalid params: arguments: must be object/],
    [{ name: 'a', arguments: null }, /^Invalid params: arguments: must be object/],
    [{ name: 'a', arguments: 'x' }, /^Invalid params: arguments: must be object/]
  ] as const) {
    const { status, response } = await send(app, { method: 'tools/call', params })
    t.equal(status, 200)
    t.match(response, { id: 1, error: { code: -32602, message } }, JSON.stringify(params))
    t.notOk('result' in response)
  }
})

t.test('arguments that do not match are a result that tells the model each problem (124, 126)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('order', ORDER, "() => { throw new Error('it must not run') }")
  })
  const problemsOf = async (args: object | undefined) => {
    const { status, response: { result } } = await send(app, call('order', args))
    t.equal(status, 200)
    t.equal(result.isError, true)
    t.equal(result.content.length, 1)
    const [head, ...problems] = result.content[0].text.split('\n')
    t.equal(head, 'Invalid arguments for order:')
    return problems
  }
  t.strictSame(await problemsOf({}), ['- size: is required, but missing'])
  t.strictSame(
    await problemsOf(undefined), ['- size: is required, but missing'], 'the same without arguments (125)'
  )
  t.strictSame(await problemsOf({ size: 'L' }), ['- size: must be one of ["S","M"], got "L"'])
  t.strictSame(await problemsOf({ size: 'S', colour: 'red' }), ['- colour: is not known here; remove it'])
  const all = await problemsOf({ size: 'S', count: 'two', lines: [{ sku: 'ok' }, {}, { sku: 'NO' }] })
  t.strictSame(all.toSorted(), [
    '- count: must be integer, got "two"',
    '- lines[1].sku: is required, but missing',
    '- lines[2].sku: must match pattern "^[a-z]+$", got "NO"'
  ], 'all problems in one result')
  const [long = ''] = await problemsOf({ size: 'S', count: 'x'.repeat(5000) })
  t.ok(long.length < 200, 'a long value is cut')
})

t.test('arguments may be left out, and defaults are filled in (125)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', '', '(args) => ({ args })'),
    'tools/b.ts': toolModule(
      'b', "inputSchema: { type: 'object', properties: { count: { type: 'integer', default: 3 } } }",
      '(args) => ({ args })'
    )
  })
  t.strictSame((await send(app, call('a'))).response.result.structuredContent, { args: {} })
  t.strictSame((await send(app, call('b'))).response.result.structuredContent, { args: { count: 3 } })
  t.match(
    (await send(app, call('a', { x: 1 }))).response.result, { isError: true },
    'a tool without an input schema takes no arguments'
  )
})

t.test('takes long strings, and names of members that every object has', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'length',
      "inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }",
      '({ text }) => String(text.length)'
    ),
    'tools/b.ts': toolModule('keys', "inputSchema: { type: 'object' }", '(args) => Object.keys(args).join()')
  })
  const length = await send(app, call('length', { text: 'é'.repeat(100_000) }))
  t.equal(length.response.result.content[0].text, '100000')
  const keys = await send(app, call('keys', { toString: 1, hasOwnProperty: 2, valueOf: 3 }))
  t.equal(keys.response.result.content[0].text, 'toString,hasOwnProperty,valueOf')
  t.match(
    (await send(app, call('length', JSON.parse('{"toString":1}')))).response.result, { isError: true },
    'an inherited member is not an argument'
  )
})

t.test('arguments that are nested too deeply for the check are a result', async (t) => {
  const app = await buildApp(t, {
    'tools/tree.ts': toolModule('tree', TREE),
    'tools/flat.ts': toolModule(
      'flat', "inputSchema: { type: 'object', properties: { n: { type: 'integer' } } }"
    )
  }, { constants: { maxBodyDepth: 10_000 } })
  t.match((await send(app, call('tree', nested(50)))).response.result, { content: [{ text: 'ok' }] })
  for (
    const [name, args] of [
      ['tree', nested(4000)], ['flat', { n: nested(4000) }], ['flat', nested(4000)]
    ] as const
  ) {
    const { status, response } = await send(app, call(name, args))
    t.equal(status, 200)
    t.ok(response.result, 'not an internal error')
  }
  // As text: JSON.stringify could not write such a value.
  const deep = `${'{"child":'.repeat(100_000)}{}${'}'.repeat(100_000)}`
  for (const [name, args] of [['tree', deep], ['flat', `{"n":${deep}}`]] as const) {
    const { headers, body } = toPost(call(name, {}))
    const answer = await app.inject({
      method: 'POST', url: '/mcp', headers, body: body.replace('"arguments":{}', `"arguments":${args}`)
    })
    t.equal(answer.statusCode, 400)
    t.match(answer.json(), { error: { code: -32600 } }, `${name}: 100,000 levels`)
  }
  t.match((await send(app, call('tree', {}))).response.result, { content: [{ text: 'ok' }] })
})

const STUBBORN = `
import { defineTool } from 'trivet'
import { seen } from '../lib/seen.ts'
const stubborn = async (_, { signal }) => {
  signal.addEventListener('abort', () => { seen.push(signal.reason.name) })
  await new Promise(() => {})
}
const heed = (_, { signal }) => new Promise((resolve, reject) => {
  signal.addEventListener('abort', () => reject(signal.reason))
})
const define = (name, run, options) => defineTool({ name, description: 'A tool.', ...options, run })
export const own = define('own', stubborn, { timeoutMs: 20 })
export const shared = define('shared', stubborn)
export const heeding = define('heeding', heed, { timeoutMs: 20 })
export const quick = define('quick', async () => 'ok', { timeoutMs: 20 })
export const asked = define('asked', () => ({ seen }))
`

t.test('a tool that takes too long is stopped, and the model is told (246)', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, { 'lib/seen.ts': 'export const seen = []', 'tools/a.ts': STUBBORN }, {
    requestTimeoutMs: 30, logger: log.logger
  })
  for (const [name, limit] of [['own', 20], ['shared', 30], ['heeding', 20]] as const) {
    const { status, response } = await send(app, call(name))
    t.equal(status, 200)
    t.match(response.result, {
      resultType: 'complete',
      isError: true,
      content: [{ type: 'text', text: `${name} did not finish within ${limit} ms and was stopped.` }]
    })
  }
  t.match((await send(app, call('quick'))).response.result, { content: [{ text: 'ok' }] })
  t.strictSame(
    (await send(app, call('asked'))).response.result.structuredContent,
    { seen: ['TimeoutError', 'TimeoutError'] }, 'the signals aborted'
  )
  const lines = log.lines.filter(({ msg }) => msg === 'request')
  t.strictSame(lines.map(({ name, status }) => [name, status]), [
    ['own', 200], ['shared', 200], ['heeding', 200], ['quick', 200], ['asked', 200]
  ])
  t.notOk(lines.some((line) => 'cancelled' in line), 'not logged as cancelled')
})

t.test('prompts, resources and suggestions that take too long are stopped too (246)', async (t) => {
  const never = '() => new Promise(() => {})'
  const app = await buildApp(t, {
    'prompts/p.ts': `
      import { definePrompt } from 'trivet'
      const a = { name: 'a', complete: ${never} }
      export default definePrompt({ name: 'p', description: 'P.', arguments: [a], render: ${never} })`,
    'resources/r.resource.ts': `
      import { defineResource } from 'trivet'
      export default defineResource({ uri: 'r://r', name: 'r', read: ${never} })`
  }, { requestTimeoutMs: 20 })
  for (const [method, params] of [
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'r://r' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }]
  ] as const) {
    const { status, response } = await send(app, { method, params })
    t.equal(status, 200)
    t.match(
      response, { id: 1, error: { code: -32603, message: 'The request was stopped after 20 ms' } }, method
    )
  }
})
