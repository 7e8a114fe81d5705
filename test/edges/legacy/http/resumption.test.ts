// Calls whose client loses its connection, reconnects and reads the rest.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { until } from '../../../helpers/deadline.ts'
import {
  LEGACY_REVISIONS, openSession, type SessionClient, type SessionOptions, type SessionReply
} from '../../../helpers/session.ts'
import { asked, FILES, from, newGate, summaryOf } from './resumable-calls.ts'

async function open (
  t: Test, options: SessionOptions = {}, appOptions: AppOptions = {}
): Promise<SessionClient> {
  return await openSession(t, await listen(await buildApp(t, FILES, appOptions)), options)
}

/** The ids of the events that have a message. */
const idsOf = ({ events }: SessionReply) => events.filter(
  ({ data }) => data !== undefined && data !== ''
).map(({ id }) => id)

for (const revision of LEGACY_REVISIONS) {
  t.test(`at ${revision}`, async (t) => {
    const session = await open(t, { revision })

    t.test('resumes a call in the middle, from any event (333, 347)', async (t) => {
      const gate = newGate()
      const call = await session.startCall('speaks', { gate }, asked)
      await call.next()
      call.close()
      const resumed = await from(session, call.lastEventId)
      t.strictSame([resumed.status, resumed.headers['content-type']], [200, 'text/event-stream'])
      await session.call('open', { gate })
      t.strictSame(summaryOf(await resumed.ended()), [2, 'done'])
      const [first = ''] = call.events.map(({ id }) => id)
      const again = await (await from(session, first)).ended()
      t.strictSame(
        summaryOf(again), revision === '2025-11-25' ? [1, 2, 'done'] : [2, 'done'],
        'again, also after the end'
      )
      t.strictSame(idsOf(again).slice(-2), idsOf(resumed).slice(-2), 'under the same ids')
    })

    t.test('refuses to resume after the last event (347)', async (t) => {
      const gate = newGate()
      await session.call('open', { gate })
      const call = await session.call('speaks', { gate }, asked)
      const { status } = await (await from(session, call.lastEventId)).ended()
      t.ok(status >= 400 && status < 500, `${status}`)
    })

    t.test('disconnects a client whose revision lets it reconnect (351, 364)', async (t) => {
      const gate = newGate()
      const started = session.startCall('lets_go', { gate }, asked)
      if (revision !== '2025-11-25') {
        await session.call('open', { gate })
        t.strictSame(summaryOf(await (await started).ended()), [1, 'done'])
        return
      }
      const call = await (await started).ended()
      t.equal(call.isComplete, true)
      t.match(call.events, [{ id: String, data: '' }, { retry: '50' }])
      t.equal(call.events.length, 2)
      const resumed = await from(session, call.lastEventId)
      await session.call('open', { gate })
      t.strictSame(summaryOf(await resumed.ended()), [1, 'done'])
    })

    t.test('another session cannot resume a stream (347)', async (t) => {
      const gate = newGate()
      const call = await session.startCall('speaks', { gate }, asked)
      await call.next()
      const stranger = await openSession(t, session.url, { revision })
      const { status } = await (await from(stranger, call.lastEventId)).ended()
      t.equal(status, 400)
      await session.call('open', { gate })
      t.strictSame(summaryOf(await call.ended()), [1, 2, 'done'])
    })
  })
}

t.test('a client that reconnects several times gets each message once', async (t) => {
  const session = await open(t)
  const gate = newGate()
  const call = await session.startCall('floods', { gate, count: 20 }, asked)
  await until(() => call.messages.length >= 20, 'the first messages')
  call.close()
  const seen: unknown[] = []
  let position = call.events[0]?.id ?? ''
  for (let times = 0; times < 3; times++) {
    const resumed = await from(session, position)
    await until(() => resumed.messages.length > 5, 'some of it')
    resumed.close()
    const taken = resumed.events.filter(({ data }) => data !== undefined && data !== '').slice(0, 5)
    seen.push(...taken.map(({ data }) => JSON.parse(data ?? '').params.progress))
    position = taken.at(-1)?.id ?? ''
  }
  const last = await from(session, position)
  await session.call('open', { gate })
  seen.push(...summaryOf(await last.ended()))
  t.strictSame(seen, [...Array.from({ length: 20 }, (_, index) => index + 1), 'done'])
})

t.test('a silent call opens a stream after a while, which can be resumed (350)', async (t) => {
  const session = await open(t)
  const gate = newGate()
  const call = await session.startCall('silent', { gate })
  await until(() => call.events.length === 1, 'the first event')
  t.match(call.events, [{ data: '' }])
  call.close()
  const resumed = await from(session, call.lastEventId)
  await session.call('open', { gate })
  t.strictSame(summaryOf(await resumed.ended()), ['done'])
})

t.test('a disconnected client is asked on the resumed stream (331, 344)', async (t) => {
  const session = await open(t)
  const call = await (await session.startCall('lets_go_and_asks')).ended()
  const resumed = await from(session, call.lastEventId)
  await session.answer((await resumed.next()).id, { action: 'decline' })
  t.equal((await resumed.ended()).response.result.content[0].text, 'decline')
})

t.test('a question is sent again on the resumed stream (347)', async (t) => {
  const session = await open(t)
  const call = await session.startCall('asks')
  const { id } = await call.next()
  call.close()
  const resumed = await from(session, call.events[0]?.id ?? '')
  t.equal((await resumed.next()).id, id)
  await session.answer(id, { action: 'cancel' })
  t.equal((await resumed.ended()).response.result.content[0].text, 'cancel')
})

t.test('a cancelled call cannot be resumed (334)', async (t) => {
  const session = await open(t)
  const call = await session.startCall('speaks', { gate: newGate() }, { ...asked, id: 'x' })
  await call.next()
  call.close()
  await session.notify('notifications/cancelled', { requestId: 'x' })
  const { status, messages } = await (await from(session, call.lastEventId)).ended()
  t.ok(status >= 400 && status < 500, `${status}`)
  t.strictSame(messages.filter((message) => 'result' in message), [])
})

t.test('the end of a session ends its resumed streams (325)', async (t) => {
  const session = await open(t)
  const call = await session.startCall('speaks', { gate: newGate() }, asked)
  await call.next()
  call.close()
  const resumed = await from(session, call.lastEventId)
  await session.end()
  await resumed.ended()
  t.strictSame(resumed.messages, [])
})

t.test('the log keeps the last messages of a long call, and always its end', async (t) => {
  const session = await open(t)
  const gate = newGate()
  const call = await session.startCall('floods', { gate, count: 3000 }, asked)
  await until(() => call.messages.length >= 2000, '2000 messages')
  call.close()
  await session.call('open', { gate })
  const resumed = await (await from(session, call.events[1]?.id ?? '')).ended()
  t.equal(summaryOf(resumed).at(-1), 'done')
  t.ok(resumed.messages.length <= 1000, `${resumed.messages.length}`)
})

t.test('resuming a stream again ends the older resumed stream (347)', async (t) => {
  const session = await open(t)
  const gate = newGate()
  const call = await session.startCall('speaks', { gate }, asked)
  await call.next()
  const resumed: SessionReply[] = []
  for (let i = 0; i < 5; i++) resumed.push(await from(session, call.lastEventId))
  for (const older of resumed.slice(0, -1)) t.ok((await older.ended()).isComplete)
  await session.call('open', { gate })
  t.strictSame(summaryOf(await resumed[4]?.ended() ?? call), [2, 'done'])
})

t.test('streams of calls and resumed streams count against the limit of streams', async (t) => {
  const session = await open(t, {}, { maxStreams: 3 })
  const gate = newGate()
  const calls: SessionReply[] = []
  for (let i = 0; i < 2; i++) {
    const call = await session.startCall('speaks', { gate }, asked)
    await call.next()
    calls.push(call)
  }
  const [first, second] = calls.map(({ lastEventId }) => lastEventId)
  const opened = await Promise.all([
    from(session, String(first)), from(session, String(second)), (await openSession(t, session.url)).get()
  ])
  t.strictSame(opened.map(({ status }) => status).sort(), [200, 503, 503])
  const third = await session.startCall('speaks', { gate: newGate() }, asked)
  t.equal((await third.next()).method, 'notifications/progress', 'a call is never refused')
})
