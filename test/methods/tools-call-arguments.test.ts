import t from 'tap'
import { buildApp } from '../helpers/app.ts'
import { toolModule } from '../helpers/catalog-folder.ts'
import { createReadableLog } from '../helpers/log.ts'
import { send, toPost } from '../helpers/request.ts'

const call = (name: string, args?: unknown) => ({
  method: 'tools/call', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})

const ORDER = `inputSchema: {
  type: 'object',
  properties: {
    size: { enum: ['S', 'M'] }, count: { type: 'integer', minimum: 1, default: 1 }, note: { type: 'string' },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string', pattern: '^[a-z]+$' } }, required: ['sku'] } }
  },
  required: ['size'],
  additionalProperties: false
}`

const TREE = `inputSchema: {
  type: 'object',
  properties: { child: { $ref: '#/$defs/node' } },
  additionalProperties: false,
  $defs: { node: { type: 'object', properties: { child: { $ref: '#/$defs/node' } }, additionalProperties: false } }
}`

/** `{"child":{"child":…}}`, as deep as given. */
function nested (depth: number, key = 'child'): object {
  let value = {}
  for (let i = 0; i < depth; i++) value = { [key]: value }
  return value
}

t.test('an unknown tool, and a malformed call, are errors of the protocol (122, 123)', async (t) => {
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a') })
  for (const [params, message] of [
    [{ name: 'b' }, 'Invalid params: unknown tool "b"'],
    [{ name: 'A' }, 'Invalid params: unknown tool "A"'],
    [{ name: '' }, 'Invalid params: unknown tool ""'],
    [{ name: '__proto__' }, 'Invalid params: unknown tool "__proto__"'],
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

t.test('arguments that do not match are a result that tells the model which, what was expected and what ' +
  'came (124, 126)', async (t) => {
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
    await problemsOf(undefined), ['- size: is required, but missing'], 'and so when they are left out (125)'
  )
  t.strictSame(await problemsOf({ size: 'L' }), ['- size: must be one of ["S","M"], got "L"'])
  t.strictSame(await problemsOf({ size: 'S', colour: 'red' }), ['- colour: is not known here; remove it'])
  t.strictSame((
    await problemsOf({ size: 'S', count: 'two', lines: [{ sku: 'ok' }, {}, { sku: 'NO' }] })
  ).toSorted(), [
    '- count: must be integer, got "two"',
    '- lines[1].sku: is required, but missing',
    '- lines[2].sku: must match pattern "^[a-z]+$", got "NO"'
  ], 'all of them at once')
  const [long = ''] = await problemsOf({ size: 'S', count: 'x'.repeat(5000) })
  t.ok(long.length < 200, 'a long value is told in short')
})

t.test('arguments may be left out, and what has a default is filled in (125)', async (t) => {
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

t.test('takes long strings, and names that an object has by itself', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'length',
      "inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }",
      '({ text }) => String(text.length)'
    ),
    'tools/b.ts': toolModule('keys', "inputSchema: { type: 'object' }", '(args) => Object.keys(args).join()')
  })
  t.equal(
    (await send(app, call('length', { text: 'é'.repeat(100_000) }))).response.result.content[0].text, '100000'
  )
  t.equal(
    (
      await send(app, call('keys', { toString: 1, hasOwnProperty: 2, valueOf: 3 }))
    ).response.result.content[0].text,
    'toString,hasOwnProperty,valueOf'
  )
  t.match(
    (await send(app, call('length', JSON.parse('{"toString":1}')))).response.result, { isError: true },
    'what is inherited counts as missing'
  )
})

t.test('arguments that are nested deeper than a check can follow are a result, and the service lives ' +
  'on', async (t) => {
  const app = await buildApp(t, {
    'tools/tree.ts': toolModule('tree', TREE),
    'tools/flat.ts': toolModule(
      'flat', "inputSchema: { type: 'object', properties: { n: { type: 'integer' } } }"
    )
  })
  t.match((await send(app, call('tree', nested(50)))).response.result, { content: [{ text: 'ok' }] })
  for (
    const [name, args] of [
      ['tree', nested(4000)], ['flat', { n: nested(4000) }], ['flat', nested(4000)]
    ] as const
  ) {
    const { status, response } = await send(app, call(name, args))
    t.equal(status, 200)
    t.ok(response.result, 'it is no internal error')
  }
  // Deeper than what could be serialised here.
  const deep = `${'{"child":'.repeat(100_000)}{}${'}'.repeat(100_000)}`
  for (const [name, args] of [['tree', deep], ['flat', `{"n":${deep}}`]] as const) {
    const { headers, body } = toPost(call(name, {}))
    const answer = await app.inject({
      method: 'POST', url: '/mcp', headers, body: body.replace('"arguments":{}', `"arguments":${args}`)
    })
    t.equal(answer.statusCode, 200)
    t.match(answer.json(), { result: { isError: true } }, `${name} refuses what is 100,000 levels deep`)
  }
  t.match((await send(app, call('tree', {}))).response.result, { content: [{ text: 'ok' }] })
})

const STUBBORN = `
import { seen } from '../lib/seen.ts'
import { defineTool } from 'trivet'
const stubborn = async (_, ctx) => { ctx.signal.addEventListener('abort', () => { seen.push(ctx.signal.reason.name) }); await new Promise(() => {}) }
export const own = defineTool({ name: 'own', description: 'Has a limit of its own.', timeoutMs: 20, run: stubborn })
export const shared = defineTool({ name: 'shared', description: 'Has the limit of the service.', run: stubborn })
export const heeding = defineTool({ name: 'heeding', description: 'Stops when it is told.', timeoutMs: 20, run: (_, ctx) => new Promise((resolve, reject) => {
  ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
}) })
export const quick = defineTool({ name: 'quick', description: 'Takes a moment.', timeoutMs: 20, run: async () => 'ok' })
export const asked = defineTool({ name: 'asked', description: 'What the signals said.', run: () => ({ seen }) })
`

t.test('a tool that takes too long is stopped, and the model is told so (246)', async (t) => {
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
    { seen: ['TimeoutError', 'TimeoutError'] }, 'their signals aborted'
  )
  const lines = log.lines.filter(({ msg }) => msg === 'request')
  t.strictSame(lines.map(({ name, status }) => [name, status]), [
    ['own', 200], ['shared', 200], ['heeding', 200], ['quick', 200], ['asked', 200]
  ])
  t.notOk(lines.some((line) => 'cancelled' in line), 'nobody has cancelled them')
})

t.test('prompts, resources and suggestions that take too long are stopped too (246)', async (t) => {
  const never = '() => new Promise(() => {})'
  const app = await buildApp(t, {
    'prompts/p.ts': `import { definePrompt } from 'trivet'\nexport default definePrompt({ name: 'p', description: 'P.', arguments: [{ name: 'a', complete: ${never} }], render: ${never} })`,
    'resources/r.resource.ts': `import { defineResource } from 'trivet'\nexport default defineResource({ uri: 'r://r', name: 'r', read: ${never} })`
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
