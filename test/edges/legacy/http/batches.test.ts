// Batches: arrays of messages, which one revision has.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import { until } from '../../../helpers/deadline.ts'
import type { Message } from '../../../helpers/request.ts'
import { openSession, type SessionClient, type SessionReply } from '../../../helpers/session.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, roots } from 'trivet'
    const state = { started: 0, aborted: 0, counted: 0 }
    const define = (name, run) => defineTool({ name, description: 'A tool.', run })
    export default [
      define('quick', () => 'ok'),
      define('counted', () => { state.counted++; return 'ok' }),
      define('big', () => 'x'.repeat(2_000_000)),
      define('slow', async () => { await new Promise((resolve) => setTimeout(resolve, 30)); return 'slow' }),
      define('speaks', async (_, ctx) => {
        ctx.progress(1)
        await new Promise((resolve) => setTimeout(resolve, 10))
        ctx.progress(2)
        return 'spoke'
      }),
      define('hangs', async (_, ctx) => {
        state.started++
        await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => {
          state.aborted++
          reject(ctx.signal.reason)
        }))
      }),
      define('roots', async (_, ctx) => JSON.stringify((await ctx.ask({ r: roots() })).r)),
      define('state', () => JSON.stringify(state))
    ]`
}

async function open (t: Test): Promise<SessionClient> {
  return await openSession(t, await listen(await buildApp(t, FILES)), { revision: '2025-03-26' })
}

const call = (
  session: SessionClient, name: string, id: string | number, meta: object = {}
) => session.toRequest('tools/call', { name, _meta: meta }, id)
const send = async (session: SessionClient, body: unknown): Promise<SessionReply> => await (
  await session.post(body)
).ended()
const responses = ({ messages }: SessionReply): Message[] => messages.filter(
  (message) => !('method' in message)
)
const idsOf = (reply: SessionReply) => responses(reply).map(({ id }) => id)
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }

t.test('answers each request of a batch once, in an array (372, 374)', async (t) => {
  const session = await open(t)
  const reply = await send(session, [
    INITIALIZED, call(session, 'slow', 'a'), session.toRequest('ping', undefined, 7),
    session.toRequest('nothing', {}, 'c'), session.toRequest('tools/list', {}, 'd')
  ])
  t.strictSame([reply.status, reply.isStream, Array.isArray(JSON.parse(reply.text))], [200, false, true])
  t.strictSame(idsOf(reply).sort(), [7, 'a', 'c', 'd'])
  t.equal(responses(reply).find(({ id }) => id === 'c').error.code, -32601)
})

t.test('answers a batch of one in an array too (372)', async (t) => {
  const session = await open(t)
  const reply = await send(session, [session.toRequest('ping', undefined, 1)])
  t.strictSame(JSON.parse(reply.text), [{ jsonrpc: '2.0', id: 1, result: {} }])
})

t.test('accepts a batch without requests with 202 (374)', async (t) => {
  const session = await open(t)
  for (const body of [
    [INITIALIZED],
    [INITIALIZED, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
    [{ jsonrpc: '2.0', id: 'unknown', result: {} }],
    [INITIALIZED, { jsonrpc: '2.0', id: 'unknown', error: { code: 1, message: 'no' } }]
  ]) {
    const { status, text, headers } = await send(session, body)
    t.strictSame([status, text, headers['content-type']], [202, '', undefined])
  }
})

t.test('answers with a stream after a notification, until the last answer (374, 378)', async (t) => {
  const session = await open(t)
  const reply = await send(session, [
    session.toRequest('ping', undefined, 'first'), call(session, 'speaks', 'a', { progressToken: 'a' }),
    call(session, 'slow', 'b'), { jsonrpc: '2.0', id: 'bad', method: 7 },
    call(session, 'speaks', 'c', { progressToken: 'c' })
  ])
  t.equal(reply.isStream, true)
  t.equal(reply.isComplete, true)
  t.strictSame(idsOf(reply).sort(), ['a', 'b', 'bad', 'c', 'first'])
  for (const token of ['a', 'c']) {
    const order = reply.messages.filter(({ id, params }) => (id ?? params?.progressToken) === token).map(
      ({ params }) => params?.progress
    )
    t.strictSame(order, [1, 2, undefined], 'no message of a request follows its answer')
  }
  t.equal(new Set(reply.events.map(({ id }) => id)).size, reply.events.length)
})

t.test('serves the other messages of a batch with a malformed message (375)', async (t) => {
  const session = await open(t)
  const wrong = [
    1, null, 'x', [], {}, { jsonrpc: '2.0', id: 'm' }, { jsonrpc: '1.0', id: 'v', method: 'ping' },
    { jsonrpc: '2.0', id: null, method: 'ping' }
  ]
  const reply = await send(session, [...wrong, session.toRequest('ping', undefined, 'good')])
  t.equal(reply.status, 200)
  t.equal(responses(reply).length, wrong.length + 1)
  t.strictSame(
    responses(reply).filter(({ error }) => error !== undefined).map(({ error }) => error.code),
    wrong.map(() => -32600)
  )
  t.strictSame(idsOf(reply).filter((id) => id !== undefined).sort(), ['good', 'm', 'v'])
  t.equal((await send(session, wrong)).messages.length, wrong.length, 'also if every message is malformed')
})

t.test('refuses an empty batch, and one that is too large (375)', async (t) => {
  const session = await open(t)
  for (const body of [
    [], Array.from({ length: 101 }, (_, id) => session.toRequest('ping', undefined, id)),
    Array.from({ length: 20_000 }, () => 1)
  ]) {
    const { status, error } = await send(session, body)
    t.strictSame([status, error.code], [400, -32600])
  }
  t.equal(
    responses(
      await send(session, Array.from({ length: 100 }, (_, id) => session.toRequest('ping', undefined, id)))
    ).length,
    100, 'accepts a hundred messages'
  )
})

t.test('refuses initialize in a batch (373)', async (t) => {
  const session = await open(t)
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  const reply = await send(session, [
    session.toRequest('initialize', params, 'i'), session.toRequest('ping', undefined, 'p')
  ])
  t.notOk('mcp-session-id' in reply.headers)
  t.equal(responses(reply).find(({ id }) => id === 'i').error.code, -32600)
  t.strictSame(responses(reply).find(({ id }) => id === 'p').result, {})
})

t.test('refuses the second of two requests with one id (346)', async (t) => {
  const session = await open(t)
  const reply = await send(session, [
    call(session, 'quick', 1), call(session, 'slow', 1), session.toRequest('ping', undefined, '1')
  ])
  t.strictSame(idsOf(reply).map(String), ['1', '1', '1'])
  t.equal(responses(reply).filter(({ error }) => error?.code === -32600).length, 1)
})

t.test('a request of a batch can be cancelled, and the others are answered (334)', async (t) => {
  const session = await open(t)
  const observer = await openSession(t, session.url)
  const started = session.post([call(session, 'hangs', 'h'), call(session, 'quick', 'q')])
  await until(
    async () => JSON.parse((await observer.call('state')).result.content[0].text).started === 1, 'the call'
  )
  await session.notify('notifications/cancelled', { requestId: 'h' })
  t.strictSame(idsOf(await (await started).ended()), ['q'])

  const both = session.post([call(session, 'hangs', 'i'), INITIALIZED])
  await until(
    async () => JSON.parse((await observer.call('state')).result.content[0].text).started === 2, 'the call'
  )
  await send(session, [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'i' } }])
  t.strictSame((await (await both).ended()).messages, [])
})

t.test('a batch of answers reaches the calls that asked (330, 372)', async (t) => {
  const session = await open(t)
  const calls = [
    await session.startCall('roots', {}, { id: 'a' }), await session.startCall('roots', {}, { id: 'b' })
  ]
  const asked = await Promise.all(calls.map(async (reply) => await reply.next()))
  const { status } = await send(session, [
    ...asked.map(
      ({ id }, index) => ({ jsonrpc: '2.0', id, result: { roots: [{ uri: `file:///${index}` }] } })
    ),
    { jsonrpc: '2.0', id: 'unknown', result: {} }
  ])
  t.equal(status, 202)
  for (const [index, reply] of calls.entries()) {
    const [{ result }] = responses(await reply.ended())
    t.equal(JSON.parse(result.content[0].text).roots[0].uri, `file:///${index}`)
  }
})

t.test('serves the requests of a batch one after another, in their order (372)', async (t) => {
  const session = await open(t)
  const reply = await session.post([call(session, 'roots', 'asks'), call(session, 'counted', 'next')])
  const { id } = await reply.next()
  const observer = await openSession(t, session.url)
  t.equal(JSON.parse((await observer.call('state')).result.content[0].text).counted, 0)
  await session.answer(id, { roots: [] })
  t.strictSame(idsOf(await reply.ended()), ['asks', 'next'])
})

t.test('refuses the rest of a batch whose answer is too large (372)', async (t) => {
  const session = await open(t)
  const ids = Array.from({ length: 10 }, (_, index) => index)
  const reply = await (await session.post(ids.map((id) => call(session, 'big', id)))).ended(30_000)
  t.strictSame(idsOf(reply), ids, 'each request is answered')
  const refused = responses(reply).filter(({ error }) => error !== undefined)
  t.strictSame(refused.map(({ id }) => id), [5, 6, 7, 8, 9])
  for (const { error } of refused) t.match(error, { code: 503, message: /not served.*batch/ })
})
