// A replica whose connection breaks after a write to the store, before the other replica is told of it.

import t, { type Test } from 'tap'
import { ANONYMOUS_OWNER } from '../../src/platform/access/principal.ts'
import { openEndedSessions } from '../../src/edges/legacy/sessions/ended-sessions.ts'
import { SessionCalls } from '../../src/edges/legacy/http/outlet.ts'
import { SessionMessages } from '../../src/edges/legacy/sessions/session-messages.ts'
import { createSessionSettings } from '../../src/edges/legacy/sessions/session-settings.ts'
import { Lifetime } from '../../src/request/pipeline/lifetime.ts'
import { openRedisBroadcast } from '../../src/platform/store/backends/redis/broadcast.ts'
import { openRedis } from '../../src/platform/store/backends/redis/connection.ts'
import { openRedisStateStore } from '../../src/platform/store/backends/redis/state-store.ts'
import type { StateStore } from '../../src/platform/store/records/state-store.ts'
import { until } from '../helpers/deadline.ts'
import { SESSION as NAMED } from '../helpers/negotiated-session.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

/** It uses no share, so its end is one write. */
const SESSION = { ...NAMED, owner: ANONYMOUS_OWNER }

/** What a replica knows of sessions. Its connection breaks after each write while `isBreaking`. */
async function openReplica (t: Test, url: string) {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const state = { isBreaking: false }
  const store = openRedisStateStore(redis.commands, { prefix: 'trivet' })
  const breaking: StateStore = {
    ...store,
    async create (...args) {
      const created = await store.create(...args)
      if (state.isBreaking) redis.commands.disconnect(true)
      return created
    }
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => { errors.push(error) }
  const broadcast = await openRedisBroadcast(redis, { channel: 'trivet:broadcast', onError })
  t.teardown(async () => await broadcast.close())
  const messages = new SessionMessages(broadcast, onError)
  const ended = await openEndedSessions(breaking, messages, { onError })
  const settings = createSessionSettings(breaking, messages, { idleMs: 60_000, onError })
  const calls = new SessionCalls(messages, ended)
  t.teardown(() => { for (const part of [calls, settings, ended, messages]) part.close() })
  return { state, errors, ended, settings, calls }
}

if (hasRedisServer(t)) {
  t.test('two replicas', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisServer(t)
    const [here, there] = [await openReplica(t, url), await openReplica(t, url)]
    here.state.isBreaking = true

    t.test('changed settings reach the other replica', async (t) => {
      t.strictSame((await there.settings.read(SESSION)).uris, [])
      await here.settings.update(SESSION, (before) => ({ ...before, uris: ['test:a'] }))
      t.equal(here.errors.length, 1, 'it could not be told')
      await until(async () => (await there.settings.read(SESSION)).uris.length > 0, 'the settings')
    })

    t.test('the end of a session reaches the other replica, and stops its calls there', async (t) => {
      const isBack = async () => await here.settings.read(SESSION).then(() => true, () => false)
      await until(isBack, 'the connection')
      const lifetime = new Lifetime()
      there.calls.add(SESSION.id, 1, lifetime)
      await here.ended.add(SESSION)
      t.equal(here.errors.length, 2, 'it could not be told')
      await until(() => there.ended.has(SESSION.id) && !lifetime.isActive, 'the end')
    })
  })
}
