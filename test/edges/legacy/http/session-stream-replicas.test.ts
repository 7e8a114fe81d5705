// The stream of a session that uses two services with one Redis.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'
import { openSession } from '../../../helpers/session.ts'
import { follow, serve, touch, unfollow, urisOf } from './session-stream-catalog.ts'

const SECRETS = ['a secret that both of them have, of some length']

t.test('two services that share a Redis', async (t) => {
  if (!hasRedisServer(t)) return
  const { url: stateUrl } = await startRedisServer(t)
  const here = await openSession(t, await serve(t, { stateUrl, secrets: SECRETS }))
  const there = here.with({ url: await serve(t, { stateUrl, secrets: SECRETS }) })

  t.test('a change on one service reaches a stream on the other (338)', async (t) => {
    const stream = await there.get()
    await follow(here, 'test:a')
    await touch(here, 'test:a')
    t.equal((await stream.next()).params.uri, 'test:a')
    await unfollow(here, 'test:a')
    await follow(there, 'test:b')
    await touch(here, 'test:a')
    await touch(there, 'test:b')
    t.equal((await stream.next()).params.uri, 'test:b')
  })

  t.test('a stream on one service ends the older one on the other (328)', async (t) => {
    const stream = await there.get()
    // The time of opening in milliseconds decides which stream is newer.
    await pause(2)
    const second = await here.get()
    await stream.ended()
    await touch(there, 'test:b')
    await second.next()
    t.strictSame(urisOf(second), ['test:b'])
    t.strictSame(urisOf(stream), [])
  })

  t.test('one of two streams that are opened at once stays open (328)', async (t) => {
    for (let i = 0; i < 30; i++) {
      const streams = await Promise.all([here.get(), there.get()])
      await until(() => streams.some(({ hasEnded }) => hasEnded), 'the end of one')
      await pause(2)
      t.equal(streams.filter(({ hasEnded }) => hasEnded).length, 1)
    }
  })

  t.test('a log level that was set on one service holds on the other (336)', async (t) => {
    t.equal((await there.call('loud', { uri: 'test:x' })).messages.length, 2)
    await here.request('logging/setLevel', { level: 'critical' })
    await until(async () => (await there.call('loud', { uri: 'test:x' })).messages.length === 1, 'the level')
  })
})
