// Calls of a session over a real socket: the messages before the result, and how calls end.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { until } from '../../../helpers/deadline.ts'
import { createReadableLog } from '../../../helpers/log.ts'
import type { Message } from '../../../helpers/request.ts'
import {
  LEGACY_REVISIONS, openSession, type SessionClient, type SessionOptions
} from '../../../helpers/session.ts'
import { FILES, LEVELS } from './session-calls-catalog.ts'

async function serve (t: Test, options: AppOptions = {}): Promise<string> {
  return await listen(await buildApp(t, FILES, options))
}

async function open (
  t: Test, options: SessionOptions = {}, appOptions: AppOptions = {}
): Promise<SessionClient> {
  return await openSession(t, await serve(t, appOptions), options)
}

async function stateOf (session: SessionClient): Promise<Message> {
  return JSON.parse((await session.call('state')).result.content[0].text)
}

const token = (progressToken: unknown) => ({ meta: { progressToken } })
const saidBy = (messages: readonly Message[], method: string) => messages.filter(
  (message) => message.method === method
).map(({ params }) => params)

for (const revision of LEGACY_REVISIONS) {
  t.test(`at ${revision}`, async (t) => {
    const session = await open(t, { revision })

    t.test('answers ping with an empty result (335)', async (t) => {
      for (const params of [undefined, {}, { _meta: { progressToken: 1 } }]) {
        const reply = await session.request('ping', params, `ping ${JSON.stringify(params)}`)
        t.strictSame([reply.status, reply.response], [
          200, { jsonrpc: '2.0', id: `ping ${JSON.stringify(params)}`, result: {} }
        ])
      }
    })

    t.test('sends progress, with its message if the revision has messages (381)', async (t) => {
      const { messages, isStream } = await session.call('steps', {}, token('p'))
      t.equal(isStream, true)
      t.strictSame(
        saidBy(messages, 'notifications/progress'),
        [1, 2, 3].map(
          (progress) => ({
            progressToken: 'p', progress, total: 3, ...(revision > '2025' && { message: `step ${progress}` })
          })
        )
      )
      t.equal((await session.call('steps')).isStream, false, 'only with a progress token')
    })

    t.test('gives events ids, and the last revision begins with an id (347, 350, 352)', async (t) => {
      const { events } = await session.call('steps', {}, token(0))
      t.equal(new Set(events.map(({ id }) => id)).size, events.length)
      for (const { id } of events) t.match(id, /^[\x21-\x7e]+$/)
      t.equal(events[0]?.data === '', revision === '2025-11-25')
      t.equal(events.filter(({ data }) => data === '').length, revision === '2025-11-25' ? 1 : 0)
    })

    t.test('a cancellation with another id does not stop a request (334)', async (t) => {
      const call = session.startCall('later', { gate: revision }, { id: 'kept' })
      await until(async () => (await stateOf(session)).started > 0, 'the call')
      for (const params of [{ requestId: 'unknown' }, { requestId: null }, {}, undefined]) {
        const { status, text } = await session.notify('notifications/cancelled', params)
        t.strictSame([status, text], [202, ''])
      }
      await session.call('open', { gate: revision })
      t.equal((await (await call).ended()).result.content[0].text, 'done')
      t.equal(
        (await session.notify('notifications/cancelled', { requestId: 'kept' })).status, 202, 'after its end'
      )
    })

    for (const name of ['hangs', 'speaks_and_hangs']) {
      t.test(`a call that ${name} stops when it is cancelled, and has no response (334)`, async (t) => {
        const before = (await stateOf(session)).aborted.length
        const started = (await stateOf(session)).started
        const call = session.startCall(name, {}, { id: name, ...token(1) })
        await until(async () => (await stateOf(session)).started > started, 'the call')
        t.equal(
          (await session.notify('notifications/cancelled', { requestId: name, reason: 'enough' })).status, 202
        )
        const reply = await (await call).ended()
        t.strictSame(
          saidBy(reply.messages, 'notifications/progress').length, name === 'hangs' ? 0 : 1,
          'no progress follows the cancellation'
        )
        t.strictSame(reply.messages.filter((message) => !('method' in message)), [])
        await until(
          async () => (await stateOf(session)).aborted.length === before + 1, 'the end of the handler'
        )
      })
    }

    t.test('answers unknown and modern methods with an error in HTTP 200 (341)', async (t) => {
      for (const method of [
        'nothing', 'server/discover', 'subscriptions/listen', 'tasks/update', 'tasks/get', 'tasks/list',
        'toString', '__proto__', '', 'sampling/createMessage', 'notifications/cancelled'
      ]) {
        const { status, error, response } = await session.request(method, {}, `unknown ${method}`)
        t.strictSame([status, error?.code, response?.id], [200, -32601, `unknown ${method}`], method)
      }
    })

    t.test('ignores tasks and the headers of the modern era (343, 360)', async (t) => {
      const reply = await session.post(
        session.toRequest('tools/call', { name: 'quick', arguments: {}, task: { ttl: 1000 } }),
        { 'mcp-method': 'tools/list', 'mcp-name': 'other', 'mcp-param-x': '=?base64?!?=' }
      )
      t.equal((await reply.ended()).result.content[0].text, 'ok')
    })

    t.test('does not reveal why a tool threw', async (t) => {
      const { status, error, text } = await session.call('breaks')
      t.strictSame([status, error.code], [200, -32603])
      t.notMatch(text, /hunter2/)
    })
  })
}

t.test('does not cancel a request of another session with the same id (334)', async (t) => {
  const session = await open(t)
  const other = await openSession(t, session.url)
  const call = session.startCall('later', { gate: 'a' }, { id: 1000 })
  await until(async () => (await stateOf(session)).started > 0, 'the call')
  await other.notify('notifications/cancelled', { requestId: 1000 })
  await session.notify('notifications/cancelled', { requestId: '1000' })
  await session.call('open', { gate: 'a' })
  t.equal((await (await call).ended()).result.content[0].text, 'done')
})

t.test('a closed connection does not cancel its call (333)', async (t) => {
  const session = await open(t)
  for (const name of ['later', 'speaks']) {
    const before = await stateOf(session)
    const abort = new AbortController()
    const call = fetch(session.url, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session.token ?? ''
      },
      body: JSON.stringify(
        session.toRequest('tools/call', { name, arguments: { gate: name }, _meta: { progressToken: 1 } })
      )
    }).then(async (response) => await response.text()).catch(() => 'gone')
    await until(async () => (await stateOf(session)).started > before.started, 'the call')
    abort.abort()
    t.equal(await call, 'gone')
    await session.call('open', { gate: name })
    await until(async () => (await stateOf(session)).finished === before.finished + 1, 'the end of the call')
    t.strictSame((await stateOf(session)).aborted, [])
  }
})

t.test('log messages', async (t) => {
  const session = await open(t)
  const levels = async (of = session) => saidBy(
    (await of.call('logs')).messages, 'notifications/message'
  ).map(({ level }) => level)

  t.test(
    'have the level warning or higher by default (337)',
    async (t) => t.strictSame(await levels(), LEVELS.slice(3))
  )

  t.test('have the level that the session has set, or a higher one (336)', async (t) => {
    const other = await openSession(t, session.url)
    for (const [at, level] of LEVELS.entries()) {
      t.strictSame((await session.request('logging/setLevel', { level }, level)).response, {
        jsonrpc: '2.0', id: level, result: {}
      })
      t.strictSame(await levels(), LEVELS.slice(at))
    }
    t.strictSame(await levels(other), LEVELS.slice(3))
  })

  t.test('are sent in order with other messages, before the result (336)', async (t) => {
    const { messages } = await session.call('mixes', {}, token(1))
    const order = messages.map(
      ({ params, result }) => params?.data ?? params?.progress ?? result?.content[0].text
    )
    t.equal(order.at(-1), 'ok')
    t.strictSame(order.filter((one) => typeof one === 'number'), [1, 2])
    await session.request('logging/setLevel', { level: 'error' })
    t.strictSame(
      (await session.call('mixes', {}, token(1))).messages.map(
        ({ params, result }) => params?.data ?? params?.progress ?? result?.content[0].text
      ),
      ['first', 1, 2, 'last', 'ok']
    )
  })

  t.test('have only the eight levels of the specification (336)', async (t) => {
    for (const level of ['verbose', 'ERROR', '', null, 3, undefined]) {
      t.equal((await session.request('logging/setLevel', { level })).error?.code, -32602)
    }
    t.equal((await session.request('logging/setLevel')).error?.code, -32602)
  })
})

t.test('stops a call that takes too long', async (t) => {
  const session = await open(t, {}, { requestTimeoutMs: 50 })
  const { result } = await session.call('hangs')
  t.match(result, {
    isError: true, content: [{ text: 'hangs did not finish within 50 ms and was stopped.' }]
  })
})

t.test('the end of a session stops its calls (325)', async (t) => {
  const session = await open(t)
  const observer = await openSession(t, session.url)
  const call = session.startCall('hangs')
  await until(async () => (await stateOf(observer)).started > 0, 'the call')
  t.equal((await session.end()).status, 204)
  t.strictSame((await (await call).ended()).messages.filter((message) => 'result' in message), [])
  await until(async () => (await stateOf(observer)).aborted.length === 1, 'the end of the handler')
})

t.test('refuses a malformed message under its id, if it has a valid one', async (t) => {
  const session = await open(t)
  for (const [body, status, code, id] of [
    ['{', 400, -32700, undefined],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600, 1],
    [{ id: 'a', method: 'ping' }, 400, -32600, 'a'],
    [{ jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600, undefined],
    [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600, undefined],
    [{ jsonrpc: '2.0', id: {}, method: 'ping' }, 400, -32600, undefined],
    [{ jsonrpc: '2.0', id: 2, method: 7 }, 400, -32600, 2],
    [{ jsonrpc: '2.0', id: 3, method: 'ping', params: [1] }, 400, -32600, 3],
    [{ jsonrpc: '2.0', id: 4 }, 400, -32600, 4],
    ['null', 400, -32600, undefined],
    ['7', 400, -32600, undefined]
  ] as const) {
    const reply = await (await session.post(body)).ended()
    t.strictSame(
      [reply.status, reply.error?.code, reply.response?.id], [status, code, id], JSON.stringify(body)
    )
  }
  t.equal((await session.request('tools/call', { name: 7 })).error.code, -32602)
  t.equal(
    (await session.request('tools/call', { name: 'quick', _meta: { progressToken: {} } })).error.code, -32602
  )
})

t.test('the log tells a call that runs on from one that was cancelled', async (t) => {
  const { logger, lines } = createReadableLog()
  const session = await open(t, {}, { logger })
  const callsOf = (name: string) => lines.filter((line) => line.method === 'tools/call' && line.name === name)

  const left = await session.startCall('speaks', { gate: 'left' }, { id: 'left', ...token(1) })
  left.close()
  await session.call('open', { gate: 'left' })
  await until(() => callsOf('speaks').length > 0, 'the line of the call whose client left')
  const cancelling = session.startCall('hangs', {}, { id: 'ended' })
  await until(async () => (await stateOf(session)).started === 2, 'the call')
  await session.notify('notifications/cancelled', { requestId: 'ended' })
  await (await cancelling).ended()
  await until(() => callsOf('hangs').length > 0, 'the line of the cancelled call')

  t.strictSame(callsOf('speaks').map(({ msg, outcome }) => [msg, outcome]), [['request', 'ok']])
  t.strictSame(callsOf('hangs').map(({ msg, outcome }) => [msg, outcome]), [['request', 'cancelled']])
})

t.test('a client that leaves before the first message of its call is no error of the service', async (t) => {
  const log = createReadableLog('info')
  const session = await open(t, { revision: '2025-06-18' }, { logger: log.logger })
  const leaving = new AbortController()
  const body = session.toRequest(
    'tools/call', { name: 'speaks_late', arguments: { gate: 'left' }, _meta: { progressToken: 'p' } }
  )
  const call = fetch(session.url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': session.token ?? ''
    },
    body: JSON.stringify(body),
    signal: leaving.signal
  })
  await until(async () => (await stateOf(session)).started > 0, 'the call')
  leaving.abort()
  await t.rejects(call)
  await session.call('open', { gate: 'left' })
  await until(async () => (await stateOf(session)).finished > 0, 'its end')
  const ends = () => log.lines.filter(({ name }) => name === 'speaks_late')
  await until(() => ends().length > 0, 'its line')
  await session.request('ping')
  t.match(ends(), [{ level: 30, msg: 'request' }])
  t.strictSame(log.lines.filter(({ level }) => level >= 50), [], log.text())
})
