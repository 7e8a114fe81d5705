// How calls of plain hosts end that do not simply return: the client leaves, the call is cancelled or
// limited, the service closes, or the operator wants no tool that continues calls.

import { request as httpRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app/app.ts'
import { buildApp, listen } from '../helpers/app.ts'
import { until } from '../helpers/deadline.ts'
import { createReadableLog } from '../helpers/log.ts'
import { send, toPost, type Message } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { named, serveTools, TaskClient, toFiles } from '../features/tasks/task-client.ts'
import { callOf, PlainClient, textOf } from './plain-client.ts'

const notes: Record<string, unknown[]> = {}
Object.assign(globalThis, { endsNotes: notes })
const NOTE = 'const note = (key, value) => (globalThis.endsNotes[key] ??= []).push(value);'
t.beforeEach(() => { for (const key of Object.keys(notes)) delete notes[key] })

const ALLOWED = "task: 'allowed'"
const LONG = `async (_, ctx) => { ${NOTE}
  await ctx.step('order', () => note('orders', 1))
  await new Promise((done) => {
    ctx.signal.addEventListener('abort', () => { note('aborted', 1); done() })
    setTimeout(done, 2000)
  })
  note('ended', 1)
  return 'done' }`
const TOOLS = {
  long: [`${ALLOWED}, undo: () => { (globalThis.endsNotes.undone ??= []).push(1) }`, LONG],
  sleeps: [ALLOWED, 'async (_, ctx) => { await ctx.sleep(60_000) }'],
  steps: [ALLOWED, `async (_, ctx) => { ${NOTE} note('runs', 1); await ctx.step('one', () => note('orders', 1)) }`],
  scoped: [`${ALLOWED}, scopes: ['books']`, 'async (_, ctx) => { await ctx.sleep(60_000) }']
} as const

/** Sends a call over a connection of its own. Returns what closes it. */
function open (url: string, name: string, headers: { readonly [name: string]: string } = {}): () => void {
  const post = toPost({ method: 'tools/call', params: { name, arguments: {} } })
  const request = httpRequest(url, { method: 'POST', headers: { ...post.headers, ...headers } })
  request.on('error', () => {})
  request.end(post.body)
  return () => request.destroy()
}

const seen = async (key: string) => await until(() => notes[key] !== undefined, `a note: ${key}`)

t.test('a client that closes the connection before the wait is over has cancelled the call', async (t) => {
  const close = open(await listen(await serveTools(t, TOOLS, { taskLeaseMs: 500 })), 'long')
  await seen('orders')
  await pause(50)
  close()
  await seen('aborted')
  await seen('undone')
})

t.test('a client with a key of its own means to come back', async (t) => {
  const url = await listen(await serveTools(t, TOOLS))
  const close = open(url, 'long', { 'idempotency-key': 'k' })
  await seen('orders')
  await pause(50)
  close()
  await seen('ended')
  t.equal(notes.aborted, undefined)
})

t.test('a client with a key of its own may leave before anything is kept', async (t) => {
  const url = await listen(await serveTools(t, {
    slow: [ALLOWED, `async (_, ctx) => { ${NOTE} note('begun', 1)
      await new Promise((done) => setTimeout(done, 100))
      await ctx.step('order', () => note('orders', 1)); note('ended', 1) }`]
  }))
  const close = open(url, 'slow', { 'idempotency-key': 'k' })
  await seen('begun')
  close()
  await seen('ended')
  t.strictSame(notes.orders, [1])
})

t.test('calls that were left, and that have ended, do not lock out their caller', async (t) => {
  const app = await serveTools(t, TOOLS, { ...named, maxTasksPerCaller: 1 })
  const url = await listen(app)
  const client = new PlainClient(app, { user: 'ada' })
  // Ten records would be the limit.
  for (let count = 0; count < 12; count++) {
    const close = open(url, 'sleeps', { authorization: 'ada' })
    await pause(30)
    close()
    await until(async () => (await client.call('steps')).isError !== true, 'the place of the call')
  }
  t.match(await client.call('steps'), { content: [] })
})

t.test('a client that closes the connection after the wait has not cancelled the call', async (t) => {
  const app = await serveTools(t, TOOLS, { taskWaitMs: 50 })
  const client = new PlainClient(app)
  const call = callOf(await client.call('long'))
  const url = await listen(app)
  const post = toPost({ method: 'tools/call', params: { name: 'continue_call', arguments: { call } } })
  const request = httpRequest(url, { method: 'POST', headers: post.headers })
  request.on('error', () => {})
  request.end(post.body)
  await pause(20)
  request.destroy()
  await seen('ended')
  t.match(await client.continue(call), { content: [{ text: 'done' }] })
})

t.test('a session cancels its call', async (t) => {
  const url = await listen(await serveTools(t, TOOLS, { taskLeaseMs: 500 }))
  const session = await openSession(t, url, { capabilities: {} })
  session.startCall('long', {}, { id: 'mine' }).catch(() => {})
  await seen('orders')
  await pause(50)
  await session.notify('notifications/cancelled', { requestId: 'mine' })
  await seen('aborted')
  await seen('undone')
})

t.test('a caller with too many tasks is told before the first step', async (t) => {
  const app = await serveTools(t, TOOLS, { ...named, maxTasksPerCaller: 1, taskWaitMs: 1000 })
  const client = new PlainClient(app, { user: 'ada' })
  const call = callOf(await client.call('sleeps'))
  const limit = /Too many unfinished tasks of yours \(1\)\./
  t.match(await client.call('steps'), { isError: true, content: [{ text: limit }] })
  t.strictSame([notes.runs, notes.orders], [[1], undefined])
  await client.continue(call, { cancel: true })
  t.notOk((await client.call('steps')).isError)
  t.strictSame(notes.orders, [1])
})

t.test('a weaker token of the same caller cannot continue a call', async (t) => {
  const authenticator: NonNullable<AppOptions['authenticator']> = {
    authenticate (header = '') {
      const [subject = '', ...scopes] = header.split(' ')
      return { subject, scopes: new Set(scopes) }
    }
  }
  const app = await serveTools(t, TOOLS, { authenticator, taskWaitMs: 50 })
  const client = new PlainClient(app, { user: 'ada books' })
  const call = callOf(await client.call('scoped'))
  const weak = new PlainClient(app, { user: 'ada' })
  t.match(await weak.continue(call), { isError: true, content: [{ text: /There is no such call/ }] })
  t.match(await weak.continue(call, { cancel: true }), { isError: true })
  t.match(await client.continue(call), { content: [{ text: /still at work/ }] })
})

t.test('the tool is seen with the tools that need it', async (t) => {
  const authenticator: NonNullable<AppOptions['authenticator']> = {
    authenticate: (header) => ({ scopes: new Set(header?.split(' ')) })
  }
  const files = toFiles({ free: ['', "() => 'x'"], scoped: TOOLS.scoped })
  const app = await buildApp(t, files, { authenticator })
  const tools = async (headers: { authorization?: string }) => {
    const { response: { result } } = await send(app, { method: 'tools/list', headers })
    return [result.tools.map(({ name }: { name: string }) => name), result.cacheScope]
  }
  t.strictSame(await tools({}), [['free'], 'private'])
  t.strictSame(await tools({ authorization: 'books' }), [['free', 'scoped', 'continue_call'], 'private'])
  const call = { method: 'tools/call', params: { name: 'continue_call', arguments: { call: 'x' } } }
  t.match((await send(app, call)).response, { error: { message: /Tool continue_call not found/ } })
})

const OFF = { 'server.yaml': 'continueTool: off\n' }

t.test('without the tool a client without tasks is told what it lacks, before the first line', async (t) => {
  const app = await buildApp(t, { ...toFiles(TOOLS), ...OFF })
  const client = new PlainClient(app)
  t.match(await client.call('steps'), {
    isError: true, content: [{ text: /it lacks tasks \(io\.modelcontextprotocol\/tasks\)\. Nothing was done/ }]
  })
  t.equal(notes.runs, undefined)
  const session = await openSession(t, await listen(app))
  t.match((await session.call('steps')).result, { isError: true, content: [{ text: /it lacks tasks/ }] })
  t.equal(notes.runs, undefined)
  t.notOk((await new TaskClient(app).call('steps')).isError)
  t.match(await client.call('continue_call', { call: 'x' }), { code: -32602 })
})

t.test('a tool of the catalog cannot have the name, unless the service has no such tool', async (t) => {
  const tools = { ...TOOLS, continue_call: ['', "() => 'mine'"] } as const
  const message = /continue_call\.ts.*name: continue_call is a tool of the service/
  await t.rejects(serveTools(t, tools), { message })
  const app = await buildApp(t, { ...toFiles(tools), ...OFF })
  t.match(await new PlainClient(app).call('continue_call'), { content: [{ text: 'mine' }] })
  const free = await serveTools(t, { continue_call: tools.continue_call })
  t.match(await new PlainClient(free).call('continue_call'), { content: [{ text: 'mine' }] })
})

async function closing (t: Test, name: string, shutdownTimeoutMs: number) {
  const app = await serveTools(t, TOOLS, { shutdownTimeoutMs })
  const url = await listen(app)
  const post = toPost({ method: 'tools/call', params: { name, arguments: {} } })
  const answering = fetch(url, { method: 'POST', ...post }).then(async (answer) => await answer.json())
  await pause(300)
  const begun = performance.now()
  await app.close()
  const { result } = await answering as Message
  return { result, ms: performance.now() - begun }
}

t.test('a service that closes says that the work goes on', async (t) => {
  const slept = await closing(t, 'sleeps', 20_000)
  t.match(textOf(slept.result), /^sleeps is still at work\. To get its result, call the tool continue_call/)
  t.ok(slept.ms < 10_000, 'a call that sleeps is not waited for')
  t.match(textOf((await closing(t, 'long', 300)).result), /^long is still at work/)
})

t.test('the log and the audit log tell of the tool that is continued', async (t) => {
  const log = createReadableLog()
  const app = await serveTools(t, TOOLS, { taskWaitMs: 50, logger: log.logger })
  const client = new PlainClient(app)
  await client.continue(callOf(await client.call('sleeps')))
  await client.continue('task_0000000000000000000000')
  const lines = log.lines.filter(({ method }) => method === 'tools/call')
  t.match(lines.map(({ name, outcome }) => `${name} ${outcome}`), [
    'sleeps sleeping', 'sleeps goes_on', 'sleeps goes_on', 'continue_call tool_error'
  ])
})
