// The built service as a process: its output, its exit codes, and the errors that it survives.

import { chmod } from 'node:fs/promises'
import t from 'tap'
import { toolModule, writeCatalog, writeInPlace } from './helpers/catalog-folder.ts'
import { until, within } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'
import type { Message, RequestParts } from './helpers/request.ts'
import { runService, startService, type Service } from './helpers/service.ts'
import { openStream, post } from './helpers/stream.ts'

const FILES = {
  'server.yaml': 'name: shop\ntitle: The Shop\nversion: 1.0.0\n',
  'tools/echo.ts': toolModule(
    'echo',
    "inputSchema: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false }",
    '({ text }) => text'
  ),
  'tools/forgets.ts': toolModule(
    'forgets', '', "() => { Promise.reject(new Error('a forgotten promise')); return 'ok' }"
  ),
  'tools/fails.ts': toolModule('fails', '', "() => { throw new Error('broken inside') }"),
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n---\nHello {{x}}.\n',
  'resources/a.md': '# a',
  'resources/b.md': '# b',
  'resources/book.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', read: ({ id }) => id })\n"
}

/** Every line on standard output that is JSON. */
function logLines ({ stdout }: Service): Message[] {
  return stdout().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

/** Every line on standard output that is no JSON. */
function notLogged ({ stdout }: Service): string[] {
  return stdout().trimEnd().split('\n').filter((line) => !line.startsWith('{'))
}

const call = (name: string, args?: object): RequestParts => ({
  method: 'tools/call', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})

// The tests share one service, because starting it takes a second.
const service = await startService(t, {
  TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_LOG_LEVEL: 'trace'
})

t.test('prints one line with the catalog and the address', async (t) => {
  t.match(logLines(service), [{
    level: 30,
    url: /^http:\/\/127\.0\.0\.1:\d+\/mcp$/,
    msg: 'The Shop serves 3 tools, 1 prompt, 2 resources and 2 resource templates'
  }])
  t.strictSame(notLogged(service), [])
  t.equal(service.stderr(), '')
})

t.test('logs one line for each request, with its outcome and without its content (254)', async (t) => {
  const marker = 'marker4711'
  const headers = { authorization: `Bearer ${marker}`, cookie: `session=${marker}`, 'x-api-key': marker }
  const requests: Array<readonly [RequestParts, object]> = [
    [call('echo', { text: marker }), { method: 'tools/call', name: 'echo', status: 200 }],
    [call('echo', { text: [marker], more: marker }), { method: 'tools/call', name: 'echo', status: 200 }],
    [call('fails'), { method: 'tools/call', name: 'fails', status: 200, code: -32603 }],
    [call('none', { text: marker }), { method: 'tools/call', status: 200, code: -32602 }],
    [
      { method: 'tools/list', params: { cursor: marker } },
      { method: 'tools/list', status: 200, code: -32602 }
    ],
    [
      { method: 'prompts/get', params: { name: 'p', arguments: { x: marker } } },
      { method: 'prompts/get', name: 'p', status: 200 }
    ],
    [
      { method: 'resources/read', params: { uri: 'file:///a.md' } },
      { method: 'resources/read', name: 'file:///a.md', status: 200 }
    ],
    [
      { method: 'resources/read', params: { uri: `book://${marker}` } },
      { method: 'resources/read', name: 'book://{id}', status: 200 }
    ],
    [
      {
        method: 'completion/complete',
        params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: marker } }
      },
      { method: 'completion/complete', name: 'p', status: 200 }
    ],
    [{ method: `nothing/${marker}` }, { status: 404, code: -32601 }],
    [
      { method: 'tools/list', headers: { 'mcp-method': marker } },
      { method: 'tools/list', status: 400, code: -32020 }
    ],
    [{ method: 'tools/list', headers: { 'content-type': 'text/plain' } }, { status: 415, code: -32600 }]
  ]
  const lines = () => logLines(service).filter(({ msg }) => msg === 'request')
  for (const [parts] of requests) {
    await post(t, service.url, { ...parts, headers: { ...headers, ...parts.headers } })
  }
  await until(() => lines().length >= requests.length, 'a line for each')
  t.equal(lines().length, requests.length)
  for (const [index, [, expected]] of requests.entries()) {
    const { level, reqId, durationMs, ...line } = lines()[index]
    t.match(line, expected)
    t.equal(level, 30)
    t.type(reqId, 'string')
    t.ok(durationMs >= 0 && durationMs < 10_000)
    if (!('code' in expected)) t.notOk('code' in line)
  }
  t.equal(new Set(lines().map(({ reqId }) => reqId)).size, requests.length, 'each under an id of its own')
  t.notMatch(service.stdout() + service.stderr(), marker)
  t.match(
    logLines(service).find(({ err }) => err !== undefined),
    { name: 'fails', err: { message: 'broken inside' } }, 'what failed is told to the operator'
  )
})

t.test('invalid settings end it with exit code 1 and every problem', async (t) => {
  const { code, stdout, stderr } = await runService({
    TRIVET_CATALOG: '.',
    PORT: '70000',
    TRIVET_REQUEST_TIMEOUT_MS: 'a minute',
    TRIVET_WATCH: 'yes',
    HOST: '0.0.0.0'
  })
  t.equal(code, 1)
  t.match(stdout, /^[^\n]*"level":60[^\n]*\n$/, 'one record')
  t.strictSame(stderr.trimEnd().split('\n').map((line) => line.trim().split(' ').slice(0, 3).join(' ')), [
    'The settings are',
    'PORT must be',
    'TRIVET_WATCH must be',
    'TRIVET_REQUEST_TIMEOUT_MS must be',
    'HOST is 0.0.0.0,'
  ])
  t.match(stderr, /TRIVET_REQUEST_TIMEOUT_MS must be an integer from 1 to 3600000, got "a minute"/)
  t.notMatch(stderr, /\n\s+at /, 'it is no crash')
})

t.test('a catalog that does not load ends it with exit code 1 and every problem', async (t) => {
  const catalog = await writeCatalog(t, {
    'server.yaml': 'nmae: shop\n',
    'tools/a.ts': toolModule('a', "inputSchema: { type: 'array' }"),
    'tools/b.ts': 'export default 1\n',
    'tools/c.ts': toolModule('not a name'),
    'tools/d.ts': "import { defineTool } from 'trivet'\nexport default defineTool({\n",
    'prompts/p.md': 'Hello {{who}}.\n'
  })
  const { code, stdout, stderr } = await runService({ TRIVET_CATALOG: catalog })
  t.equal(code, 1)
  t.notMatch(stdout, /serves/)
  const lines = stderr.trimEnd().split('\n')
  t.equal(lines[0], 'The catalog does not load:')
  for (const file of [
    'server.yaml', 'tools/a.ts', 'tools/b.ts', 'tools/c.ts', 'tools/d.ts', 'prompts/p.md'
  ]) {
    t.equal(lines.filter((line) => line.startsWith(`  ${file}: `)).length, 1, file)
  }
  t.notMatch(stderr, /\n\s+at /, 'it is no crash')

  const missing = await runService({ TRIVET_CATALOG: '/nowhere/to/be/found' })
  t.equal(missing.code, 1)
  t.match(missing.stderr, /\/nowhere\/to\/be\/found/)
})

t.test('a port in use ends it with a message', async (t) => {
  const { code, stdout, stderr } = await runService({
    TRIVET_CATALOG: await writeCatalog(t, {}), PORT: new URL(service.url).port
  })
  t.equal(code, 1)
  t.match(stdout, /^[^\n]*"level":60[^\n]*\n$/, 'one record')
  t.match(stderr, /^Cannot listen on port \d+ of 127\.0\.0\.1: another process .* \(EADDRINUSE\)\n$/)
})

// The superuser may write everywhere.
const USER = process.getuid?.() === 0 ? 65_534 : undefined

t.test('a folder of state that cannot be written ends it with a message', async (t) => {
  const catalog = await writeCatalog(t, {})
  const locked = await writeCatalog(t, {})
  await chmod(catalog, 0o755)
  await chmod(locked, 0o555)
  const { code, stdout, stderr } = await runService({
    TRIVET_CATALOG: catalog, TRIVET_STATE_URL: `file:${locked}/state`
  }, { uid: USER })
  t.equal(code, 1)
  t.notMatch(stdout, /serves/)
  // The test runner adds an error of its own: this user may not write its files either.
  t.match(stderr, /^The settings are not usable:\n {2}TRIVET_STATE_URL=file:\S+ cannot be used: .*EACCES.*$/m)
  const init = await runService({}, { uid: USER, args: ['init', `${locked}/shop`] })
  t.equal(init.code, 1)
  t.match(init.stderr, /^\S+ cannot be written: EACCES.*$/m)
})

t.test('state that another process keeps ends it with a message, until that process has ended', async (t) => {
  const [catalog, state] = [await writeCatalog(t, {}), await makeFolder(t)]
  const environment = { TRIVET_CATALOG: catalog, TRIVET_STATE_URL: `file:${state}` }
  const first = await startService(t, environment)
  const { code, stdout, stderr } = await runService(environment)
  t.equal(code, 1)
  t.notMatch(stdout, /serves/)
  t.match(stderr, /^The settings are not usable:\n {2}TRIVET_STATE_URL=file:\S+ cannot be used: another process /)
  t.equal(stderr.trimEnd().split('\n').length, 2)
  const other = await startService(t, { ...environment, TRIVET_STATE_PREFIX: 'other' })
  t.equal(await other.stop(), 0)
  await first.stop('SIGKILL')
  const second = await startService(t, environment)
  t.equal(await second.stop(), 0)
  t.ok(await startService(t, environment), 'and an orderly end leaves nothing behind')
})

t.test('a Redis that is away ends the start with exit code 1', { timeout: 60_000 }, async (t) => {
  const { code, stderr } = await runService({
    TRIVET_CATALOG: await writeCatalog(t, {}),
    TRIVET_STATE_URL: 'redis://127.0.0.1:1',
    TRIVET_SECRETS: 'a secret of at least thirty-two characters'
  })
  t.equal(code, 1)
  t.match(stderr, /^The settings are not usable:\n {2}TRIVET_STATE_URL: no Redis is reachable at 127\.0/)
  t.notMatch(stderr, /\n\s+at /, 'it is no crash')
})

t.test('a failed start ends although a module keeps a timer', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/a.ts': 'setInterval(() => {}, 1000)\n' })
  const { code, stderr } = await within(runService({ TRIVET_CATALOG: catalog }), 'the exit', 30_000)
  t.equal(code, 1)
  t.match(stderr, /tools\/a\.ts: exports nothing made by defineTool/)
})

t.test('an error that the first load causes and nobody catches is a problem of the catalog', async (t) => {
  const late = "import { connect } from 'node:net'\n\nconnect(1, '127.0.0.1')\n" +
    "setImmediate(() => { throw new Error('too late') })\n"
  const catalog = await writeCatalog(t, {
    'lib/late.ts': late, 'tools/a.ts': `import '../lib/late.ts'\n${toolModule('a')}`
  })
  const { code, stderr } = await within(runService({ TRIVET_CATALOG: catalog }), 'the exit', 30_000)
  t.equal(code, 1)
  t.match(stderr, /^ {2}lib\/late\.ts: line 4: a module threw an error that nobody caught: too late$/m)
  t.match(stderr, /: a module threw .*: connect ECONNREFUSED .*; a connection .* a listener for "error"$/m)
})

t.test('an error that a load causes and nobody catches does not end the service', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/a.ts': toolModule('a', '', "() => 'one'") })
  const other = await startService(t, { TRIVET_CATALOG: catalog })
  const connect = "import { connect } from 'node:net'\nsetInterval(() => connect(1, '127.0.0.1'), 100)\n" +
    "connect(1, '127.0.0.1')\n"
  await writeInPlace(catalog, 'tools/a.ts', connect + toolModule('a', '', "() => 'two'"))
  const errors = () => logLines(other).filter(({ err }) => err?.code === 'ECONNREFUSED').length
  await until(() => errors() > 2, 'errors of the module', 30_000)
  t.match(other.stdout(), /catalog not reloaded.*/)
  t.match((await post(t, other.url, call('a'))).response, { result: { content: [{ text: 'one' }] } })
  await writeInPlace(catalog, 'tools/a.ts', toolModule('a', '', "() => 'three'"))
  await until(async () => {
    return (await post(t, other.url, call('a'))).response.result.content[0].text === 'three'
  }, 'the next edit', 30_000)
})

t.test('a rejected promise that no tool handles does not end the service', async (t) => {
  for (let i = 0; i < 3; i++) {
    t.match((await post(t, service.url, call('forgets'))).response, { result: { content: [{ text: 'ok' }] } })
  }
  await until(
    () => logLines(service).filter(({ err }) => err?.message === 'a forgotten promise').length === 3,
    'the lines in the log'
  )
  t.match((await post(t, service.url, call('echo', { text: 'alive' }))).response, {
    result: { content: [{ text: 'alive' }] }
  })
})

// The first process of a container ignores a signal that it does not handle.
t.test('SIGTERM during the start ends it with exit code 0', async (t) => {
  const catalog = await writeCatalog(t, {
    'tools/a.ts': "process.kill(process.pid, 'SIGTERM')\n" +
      `await new Promise((resolve) => setTimeout(resolve, 100))\n${toolModule('a')}`
  })
  const { code, stdout } = await within(runService({ TRIVET_CATALOG: catalog }), 'the exit', 30_000)
  t.equal(code, 0)
  t.notMatch(stdout, /serves/)
})

t.test('SIGTERM loses no line of the log', async (t) => {
  const other = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_LOG_LEVEL: 'info'
  })
  const count = 300
  await Promise.all(Array.from({ length: count }, () => post(t, other.url, { method: 'tools/list' })))
  t.equal(await within(other.stop(), 'the exit', 10_000), 0)
  const lines = logLines(other)
  t.equal(lines.filter(({ msg }) => msg === 'request').length, count)
  t.match(lines.at(-1), { signal: 'SIGTERM', msg: 'shutting down' })
})

t.test('SIGTERM and SIGINT end it with exit code 0, and open streams with their results (204)', async (t) => {
  const other = await startService(t, { TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_PATH: '/v1/tools' })
  t.match(logLines(other), [{
    url: /^http:\/\/127\.0\.0\.1:\d+\/v1\/tools$/,
    msg: /^trivet-\w+ serves 0 tools, 0 prompts, 0 resources and 0 resource templates$/
  }])
  for (const [signal, { url, stop, stderr }] of [['SIGTERM', service], ['SIGINT', other]] as const) {
    const stream = await openStream(t, url, {
      method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }, id: signal
    })
    await stream.next()
    t.equal(await within(stop(signal), 'the exit', 10_000), 0, signal)
    await stream.ended()
    t.ok(stream.isComplete)
    t.match(stream.response, {
      id: signal,
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': signal } }
    })
    t.equal(stderr(), '')
  }
})
