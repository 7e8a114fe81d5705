// Calls whose client loses its connection, on two services that share a Redis.

import t from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { openSession } from '../../../helpers/session.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'
import { asked, FILES, from, newGate, summaryOf } from './resumable-calls.ts'

const SECRETS = ['a secret that both of them have, of some length']

t.test('two services that share a Redis', async (t) => {
  if (!hasRedisServer(t)) return
  const { url: stateUrl } = await startRedisServer(t)
  const apps = await Promise.all(
    [1, 2].map(async () => await buildApp(t, FILES, { stateUrl, secrets: SECRETS }))
  )
  const [here, there] = await Promise.all(apps.map(async (app) => await listen(app)))
  if (here === undefined || there === undefined) throw new TypeError('unreachable')
  const session = await openSession(t, here)
  const elsewhere = session.with({ url: there })

  t.test('a call is resumed on the other service (347)', async (t) => {
    const gate = newGate()
    const call = await session.startCall('speaks', { gate }, asked)
    await call.next()
    call.close()
    const resumed = await from(elsewhere, call.lastEventId)
    await session.call('open', { gate })
    t.strictSame(summaryOf(await resumed.ended()), [2, 'done'])
    t.strictSame(summaryOf(await (await from(elsewhere, call.events[0]?.id ?? '')).ended()), [1, 2, 'done'])
  })

  t.test('an answer to one service reaches a call on the other (344)', async (t) => {
    const call = await session.startCall('asks')
    const { id } = await call.next()
    t.equal((await elsewhere.answer(id, { action: 'decline' })).status, 202)
    t.equal((await call.ended()).response.result.content[0].text, 'decline')
    t.equal((await elsewhere.answer(id, { action: 'decline' })).status, 400, 'once')
  })

  t.test('a call on one service is cancelled through the other (334)', async (t) => {
    const call = await session.startCall('speaks', { gate: newGate() }, { ...asked, id: 'far' })
    await call.next()
    t.equal((await elsewhere.notify('notifications/cancelled', { requestId: 'far' })).status, 202)
    t.strictSame(summaryOf(await call.ended()), [1])
  })

  t.test('a service that shuts down finishes a call whose client reconnects (333)', async (t) => {
    const third = await buildApp(t, FILES, { stateUrl, secrets: SECRETS })
    const leaving = session.with({ url: await listen(third) })
    const call = await leaving.startCall('asks')
    const { id } = await call.next()
    call.close()
    const closed = third.close()
    const resumed = await from(session, call.events[0]?.id ?? '')
    await resumed.next()
    await until(
      async () => (await session.answer(id, { action: 'accept', content: { size: 'L' } })).status === 202,
      'the answer to be accepted'
    )
    t.equal((await resumed.ended()).response.result?.content[0].text, 'accept')
    await within(closed, 'the end of the service', 15_000)
  })
})
