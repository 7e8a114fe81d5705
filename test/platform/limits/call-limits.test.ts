// The limits of calls, over all methods that run an author's code.

import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Principal } from '../../../src/platform/access/principal.ts'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { GATES } from '../../helpers/gates.ts'
import { send, type Answer, type RequestParts } from '../../helpers/request.ts'

const FILES: Files = {
  'tools/free.ts': toolModule('free'),
  'tools/few.ts': toolModule('few', "limits: { calls: '2/1h' }"),
  'tools/all.ts': toolModule('all', "limits: { allCalls: '2/1h' }"),
  'tools/slow.ts': "import { gate } from '../lib/gates.js'\n" + toolModule(
    'slow', "limits: { running: 2 }, inputSchema: { type: 'object', properties: { at: { type: 'string' } } }",
    'async ({ at }) => { await gate(at).promise; return "done" }'
  ),
  'tools/open.ts': "import { gate } from '../lib/gates.js'\n" + toolModule(
    'open', "inputSchema: { type: 'object', properties: { at: { type: 'string' } } }",
    '({ at }) => { gate(at).open() }'
  ),
  'lib/gates.js': GATES,
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n    complete: [a, b]\n---\nHello {{x}}.\n',
  'resources/a.md': '# a'
}

/** Callers name themselves. A request without a name is anonymous. */
const authenticator: NonNullable<AppOptions['authenticator']> = {
  authenticate: (subject): Principal => ({
    scopes: new Set<string>(), ...(subject !== undefined && { subject })
  })
}

const start = async (t: Test, options: AppOptions = {}, files: Files = {}) =>
  await buildApp(t, { ...FILES, ...files }, { authenticator, ...options })

const call = (name: string, user?: string, args: object = {}): RequestParts => ({
  method: 'tools/call', params: { name, arguments: args }, headers: { authorization: user }
})

const textOf = ({ response: { result } }: Answer): string => result.content[0].text

/** Calls one after another, and returns the texts of the results. */
async function callTimes (app: FastifyInstance, times: number, parts: RequestParts): Promise<string[]> {
  const texts: string[] = []
  for (let i = 0; i < times; i++) texts.push(textOf(await send(app, parts)))
  return texts
}

t.test('a tool error says which limit is reached, and how long to wait', async (t) => {
  const app = await start(t)
  t.strictSame(await callTimes(app, 2, call('few', 'ada')), ['ok', 'ok'])
  const third = await send(app, call('few', 'ada'))
  t.equal(third.status, 200)
  t.equal(third.response.result.isError, true)
  const pattern = /^The limit is reached: one caller may begin 2 calls of the tool few in 1 hour\. Try again in (\d+) seconds\.$/
  const seconds = Number(pattern.exec(textOf(third))?.[1])
  t.ok(seconds > 3500 && seconds <= 3600 * 1.14, `${seconds} s: the hour, a thirtieth of it and a tenth`)
  t.equal(textOf(await send(app, call('few', 'bob'))), 'ok', 'another caller')
  t.equal(textOf(await send(app, call('free', 'ada'))), 'ok', 'another tool')
})

t.test('each limit has its own sentence, also when it is told again', async (t) => {
  const app = await start(t, {}, {
    'tools/fewer.ts': toolModule('fewer', "limits: { calls: '1/2m', allCalls: '3/1d' }")
  })
  for (const user of ['ada', 'bob', 'eve']) await send(app, call('fewer', user))
  await callTimes(app, 2, call('few', 'ada'))
  for (const [name, user, sentence] of [
    ['fewer', 'zoe', 'all callers together may begin 3 calls of the tool fewer in 1 day.'],
    ['few', 'ada', 'one caller may begin 2 calls of the tool few in 1 hour.'],
    ['fewer', 'zoe', 'all callers together may begin 3 calls of the tool fewer in 1 day.'],
    ['few', 'ada', 'one caller may begin 2 calls of the tool few in 1 hour.']
  ] as const) t.match(textOf(await send(app, call(name, user))), `The limit is reached: ${sentence}`)
})

t.test('what is advised differs, so that refused callers do not return at once', async (t) => {
  const app = await start(t)
  await callTimes(app, 2, call('few', 'ada'))
  const texts = new Set(await callTimes(app, 20, call('few', 'ada')))
  t.ok(texts.size > 10, `${texts.size} waits of 20`)
})

t.test('a limit of all callers together', async (t) => {
  const app = await start(t)
  await send(app, call('all', 'ada'))
  await send(app, call('all', 'bob'))
  t.match(textOf(await send(app, call('all', 'eve'))), /^The limit is reached: all callers together may begin 2 calls of/)
})

t.test('calls that run at once, each until it ends', async (t) => {
  const app = await start(t)
  const running = (at: string) => send(app, call('slow', 'ada', { at }))
  const [first, second] = [running('one'), running('two')]
  const third = async () => textOf(await send(app, call('slow', 'ada', { at: 'three' })))
  const refusal = /^The limit is reached: one caller may have 2 calls of the tool slow running at once\. A call that was stopped counts until its work has ended\. Try again in [12] seconds?\.$/
  t.match(await third(), refusal)
  await send(app, call('open', 'ada', { at: 'three' }))
  const other = send(app, call('slow', 'bob', { at: 'three' }))
  t.equal(textOf(await other), 'done', 'another caller')
  await send(app, call('open', 'ada', { at: 'one' }))
  t.equal(textOf(await first), 'done')
  t.equal(await third(), 'done', 'a place is free')
  await send(app, call('open', 'ada', { at: 'two' }))
  await second
})

t.test('a call that fails, is refused or heeds its time limit frees its place', async (t) => {
  const app = await start(t, { maxRunningPerCaller: 1, requestTimeoutMs: 50 }, {
    'tools/throws.ts': toolModule('throws', '', '() => { throw new Error("broken") }'),
    'tools/heeds.ts': toolModule('heeds', '', `(_, { signal }) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })`)
  })
  for (const name of ['throws', 'heeds', 'few', 'few', 'few', 'none']) await send(app, call(name, 'ada'))
  t.equal(textOf(await send(app, call('free', 'ada'))), 'ok')
})

t.test('a call that runs on after its time limit keeps its place until its handler has ended', async (t) => {
  const app = await start(t, { requestTimeoutMs: 50 }, {
    'tools/one.ts': "import { gate } from '../lib/gates.js'\n" + toolModule(
      'one', 'limits: { running: 1 }', '() => gate("late").promise.then(() => "done")'
    )
  })
  t.match(textOf(await send(app, call('one', 'ada'))), /^one did not finish within 50 ms/)
  t.match(textOf(await send(app, call('one', 'ada'))), /1 call of the tool one running at once\. A call that was stopped/)
  t.match(textOf(await send(app, call('one', 'bob'))), /^one did not finish/, 'another caller')
  await send(app, call('open', 'ada', { at: 'late' }))
  t.equal(textOf(await send(app, call('one', 'ada'))), 'done', 'a place is free')
})

t.test('methods that run no tool answer 429 with Retry-After', async (t) => {
  const app = await start(t, { maxCallsPerCaller: '4/1m' })
  const headers = { authorization: 'ada' }
  const limited: RequestParts[] = [
    { method: 'prompts/get', params: { name: 'p', arguments: { x: 'y' } }, headers },
    { method: 'resources/read', params: { uri: 'file:///a.md' }, headers },
    {
      method: 'completion/complete',
      params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: '' } },
      headers
    }
  ]
  for (const parts of limited) t.equal((await send(app, parts)).status, 200, parts.method)
  t.equal(textOf(await send(app, call('free', 'ada'))), 'ok')
  for (const parts of limited) {
    const { status, headers, response: { error } } = await send(app, parts)
    t.equal(status, 429, parts.method)
    t.match(error, { code: 429, message: /^The limit is reached: one caller may begin 4 calls in 1 minute\. Try/ })
    t.equal(headers['retry-after'], String(error.data.retryAfterSeconds))
    t.ok(error.data.retryAfterSeconds > 50 && error.data.retryAfterSeconds <= 68)
  }
  for (const method of ['tools/list', 'prompts/list', 'server/discover']) {
    t.equal((await send(app, { method, headers })).status, 200, method)
  }
})

t.test('calls and completions have a rate by default (136, 179, 305)', async (t) => {
  const app = await start(t, { constants: { callsPerMinute: 2 } })
  t.strictSame(await callTimes(app, 2, call('free')), ['ok', 'ok'], 'anonymous, on this machine')
  t.match(textOf(await send(app, call('free'))), /^The limit is reached: one caller may begin 2 calls in 1 minute\./)
  t.equal(textOf(await send(app, call('free', 'ada'))), 'ok', 'another caller')
  t.equal((await send(app, { method: 'tools/list' })).status, 200, 'a request that is no call')
  const complete: RequestParts = {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: '' } }
  }
  t.equal((await send(app, complete)).status, 429, 'completions count with calls')
})

t.test('a rate of the settings or of server.yaml replaces the default', async (t) => {
  const constants = { callsPerMinute: 1 }
  const settings = await start(t, { constants, maxCallsPerCaller: '2/1m' })
  const yaml = await start(t, { constants }, { 'server.yaml': "name: s\nlimits: { calls: '2/1m' }\n" })
  for (const app of [settings, yaml]) {
    t.strictSame(await callTimes(app, 2, call('free')), ['ok', 'ok'])
    t.match(textOf(await send(app, call('free'))), /one caller may begin 2 calls in 1 minute/)
  }
})

const TASKS_CLIENT = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } }
}
const SKILL: Files = { 'skills/a/SKILL.md': '---\nname: a\ndescription: A.\n---\n# A\n' }

t.test('requests that are no calls have a rate together, by default', async (t) => {
  const requests: RequestParts[] = [
    { method: 'server/discover' },
    { method: 'tools/list' },
    { method: 'resources/templates/list' },
    { method: 'skills/list' },
    { method: 'skills/get', params: { uri: 'skill://a/SKILL.md' } },
    { method: 'resources/directory/read', params: { uri: 'skill://a' } },
    { method: 'tasks/get', params: { taskId: 'none' }, meta: TASKS_CLIENT },
    { method: 'subscriptions/listen', params: { notifications: {} } }
  ]
  for (const parts of requests) {
    const app = await start(t, { constants: { requestsPerMinute: 1 } }, SKILL)
    t.equal((await send(app, { method: 'prompts/list' })).status, 200)
    const { status, response } = await send(app, parts)
    t.equal(status, 429, parts.method)
    t.match(response.error.message, /one caller may begin 1 request in 1 minute/)
  }
})

t.test('off takes the default rates away', async (t) => {
  const constants = { callsPerMinute: 1, requestsPerMinute: 1 }
  const app = await start(t, { constants, maxCallsPerCaller: 'off' })
  t.strictSame(await callTimes(app, 2, call('free')), ['ok', 'ok'])
  for (let i = 0; i < 2; i++) t.equal((await send(app, { method: 'tools/list' })).status, 200)
})

t.test('a limit of all callers is 503', async (t) => {
  const app = await start(t, {}, { 'server.yaml': "name: s\nlimits: { allCalls: '1/1m' }\n" })
  await send(app, call('free', 'ada'))
  const parts: RequestParts = { method: 'resources/read', params: { uri: 'file:///a.md' } }
  const { status, headers, response } = await send(app, parts)
  t.equal(status, 503)
  t.equal(response.error.code, 503)
  t.match(headers['retry-after'], /^\d+$/)
})

t.test('server.yaml limits all calls, and the settings come first', async (t) => {
  const files = { 'server.yaml': "name: s\nlimits: { calls: '1/1m', running: 1 }\n" }
  const yaml = await start(t, {}, files)
  const [, second] = await callTimes(yaml, 2, call('free', 'ada'))
  t.match(second, /one caller may begin 1 call in 1 minute/)
  const settings = await start(t, { maxCallsPerCaller: '3/1m' }, files)
  t.strictSame(await callTimes(settings, 3, call('free', 'ada')), ['ok', 'ok', 'ok'])
  const slow = send(settings, call('slow', 'bob', { at: 'yaml' }))
  t.match(textOf(await send(settings, call('free', 'bob'))), /one caller may have 1 call running at once/)
  await send(settings, call('open', 'eve', { at: 'yaml' }))
  await slow
})

t.test('a limit that cannot be read keeps the catalog from loading', async (t) => {
  await t.rejects(start(t, {}, { 'tools/x.ts': toolModule('x', "limits: { calls: 'often' }") }), {
    message: /tools\/x\.ts.*limits/
  })
  await t.rejects(start(t, {}, { 'server.yaml': 'name: s\nlimits: { call: 1/1m }\n' }), {
    message: /server\.yaml.*limits/
  })
})

t.test('anonymous callers are apart by their network', async (t) => {
  const app = await start(t, { maxCallsPerCaller: '1/1m', trustedProxies: ['loopback'] })
  const from = (address: string): RequestParts => ({
    ...call('free'), headers: { 'x-forwarded-for': address }
  })
  t.equal(textOf(await send(app, from('192.0.2.1'))), 'ok')
  t.equal(textOf(await send(app, from('192.0.2.2'))), 'ok')
  t.match(textOf(await send(app, from('192.0.2.1'))), /^The limit is reached/)
  t.equal(textOf(await send(app, from('2001:db8::1'))), 'ok')
  t.match(textOf(await send(app, from('2001:db8::2'))), /^The limit is reached/, 'one /64')
})

t.test('of a thousand calls at once five run, and the refused ones leave nothing behind', async (t) => {
  const app = await start(t, { maxRunningPerCaller: 5 }, {
    'tools/waits.ts': "import { gate } from '../lib/gates.js'\n" + toolModule(
      'waits', '', 'async () => { await gate("many").promise; return "done" }'
    )
  })
  let ended = 0
  const calls = Array.from({ length: 1000 }, async () => {
    const text = textOf(await send(app, call('waits', 'ada')))
    ended++
    return text
  })
  await until(() => ended === 995, 'the refusals')
  await send(app, call('open', 'bob', { at: 'many' }))
  const texts = await Promise.all(calls)
  t.equal(texts.filter((text) => text === 'done').length, 5)
  t.equal(textOf(await send(app, call('free', 'ada'))), 'ok')
})
