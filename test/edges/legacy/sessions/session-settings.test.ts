// The settings of sessions: kept in the store, known to all replicas, removed when unused.

import t, { type Test } from 'tap'
import { SessionMessages } from '../../../../src/edges/legacy/sessions/session-messages.ts'
import {
  createSessionSettings, type SessionSettings
} from '../../../../src/edges/legacy/sessions/session-settings.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import type { Broadcast } from '../../../../src/platform/store/changes/broadcast.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'
import type { StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { SESSION } from '../../../helpers/negotiated-session.ts'
import { createLocalSessionMessages } from '../../../helpers/session-messages.ts'
import { toValue } from '../../../helpers/state-value.ts'

/** Of the records of all sessions of this principal whose id begins with this character. */
const OWNER = 'session-settings-alice-o'
const OTHER = { ...SESSION, id: 'two' }

interface Counted { readonly store: StateStore, readonly reads: () => number, readonly writes: () => number }

/** A store that counts its calls. */
function createCountingStore (now?: () => number): Counted {
  const store = createMemoryStateStore(now === undefined ? {} : { now })
  let reads = 0
  let writes = 0
  return {
    store: {
      ...store,
      read: async (key) => { reads++; return await store.read(key) },
      create: async (...args) => { writes++; return await store.create(...args) },
      replace: async (...args) => { writes++; return await store.replace(...args) }
    },
    reads: () => reads,
    writes: () => writes
  }
}

function open (
  t: Test, store: StateStore,
  { messages = createLocalSessionMessages(), idleMs = 600_000, now = Date.now, maxPerOwner = 640 }: {
    messages?: SessionMessages
    idleMs?: number
    now?: () => number
    maxPerOwner?: number
  } = {}
): SessionSettings {
  const onError = (error: unknown) => { throw error }
  const settings = createSessionSettings(store, messages, { idleMs, onError, now, maxPerOwner })
  t.teardown(() => settings.close())
  return settings
}

const addUri = async (settings: SessionSettings, uri: string, session = SESSION) => await settings.update(
  session, (before) => ({ ...before, uris: [...before.uris, uri] })
)

t.test('a session without settings costs one read of the store and no record', async (t) => {
  const { store, reads, writes } = createCountingStore()
  const settings = open(t, store)
  for (let times = 0; times < 100; times++) {
    t.strictSame(await settings.read(SESSION), { version: 0, uris: [] })
  }
  t.strictSame([reads(), writes()], [1, 0])
})

t.test('a replica knows changed settings without reading the store again (336)', async (
  t
) => {
  const { store, reads } = createCountingStore()
  const messages = createLocalSessionMessages()
  const [here, there] = [open(t, store, { messages }), open(t, store, { messages })]
  await there.read(SESSION)
  await here.update(SESSION, (before) => ({ ...before, logLevel: 'error' }))
  const before = reads()
  t.match(await here.read(SESSION), { logLevel: 'error' })
  t.match(await there.read(SESSION), { logLevel: 'error' })
  t.equal(reads(), before)
  t.match(await there.read(OTHER), { version: 0 }, 'and of no other session')
})

t.test('loses no change when two replicas update at once (338)', async (t) => {
  const store = createMemoryStateStore()
  const messages = createLocalSessionMessages()
  const replicas = [open(t, store, { messages }), open(t, store, { messages }), open(t, store)]
  const uris = Array.from({ length: 12 }, (_, index) => `test:${index}`)
  await Promise.all(
    uris.map(async (uri, index) => await addUri(replicas[index % 3] ?? replicas[0] as SessionSettings, uri))
  )
  t.strictSame([...(await open(t, store).read(SESSION)).uris].sort(), [...uris].sort())
  t.strictSame([...(await (replicas[0] as SessionSettings).read(SESSION)).uris].length > 0, true)
})

t.test('messages in the wrong order do no harm', async (t) => {
  const messages = createLocalSessionMessages()
  const settings = open(t, createMemoryStateStore(), { messages })
  const say = async (version: number) => await messages.send({
    type: 'session-changed', session: 'one', settings: { version, uris: [`test:${version}`] }
  })
  await say(2)
  await say(1)
  t.strictSame((await settings.read(SESSION)).uris, ['test:2'])
  await say(3)
  t.strictSame((await settings.read(SESSION)).uris, ['test:3'])
})

t.test('are read from the store again after missed messages', async (t) => {
  const store = createMemoryStateStore()
  let miss = () => {}
  const listen: Broadcast['listen'] = (_, onMissed = () => {}) => {
    miss = onMissed
    return () => {}
  }
  const deaf = new SessionMessages({ ...createLocalBroadcast(), send: async () => {}, listen }, () => {})
  const there = open(t, store, { messages: deaf })
  await there.read(SESSION)
  await addUri(open(t, store), 'test:a')
  t.strictSame((await there.read(SESSION)).uris, [])
  miss()
  t.strictSame((await there.read(SESSION)).uris, ['test:a'])
})

t.test('an unused record expires, and a used one does not', async (t) => {
  let now = 1_000_000
  const clock = () => now
  const store = createMemoryStateStore({ now: clock })
  const session = { ...SESSION, expiresAt: 1e15 }
  const settings = open(t, store, { idleMs: 100_000, now: clock })
  await addUri(settings, 'test:a', session)
  for (let minutes = 0; minutes < 10; minutes++) {
    now += 60_000
    t.strictSame((await settings.read(session)).uris, ['test:a'], 'reading keeps it')
  }
  now += 100_001
  t.strictSame((await open(t, store, { now: clock }).read(session)).uris, [])
})

t.test('settings that are used expire in no lifetime, however short', async (t) => {
  let now = 1_000_000
  const clock = () => now
  const store = createMemoryStateStore({ now: clock })
  const session = { ...SESSION, expiresAt: 1e15 }
  const settings = open(t, store, { idleMs: 1000, now: clock })
  await addUri(settings, 'test:a', session)
  for (let times = 0; times < 50; times++) {
    now += 300
    t.strictSame((await settings.read(session)).uris, ['test:a'])
  }
})

t.test('400 changes of one session at once are written together', async (t) => {
  const { store, writes } = createCountingStore()
  const settings = open(t, store)
  const uris = Array.from({ length: 400 }, (_, index) => `test:${index}`)
  const odd = new Error('a change of the test fails')
  const outcomes = await Promise.allSettled([
    ...uris.map(async (uri) => await addUri(settings, uri)), settings.update(SESSION, () => { throw odd })
  ])
  t.strictSame(outcomes.filter(({ status }) => status === 'rejected'), [{ status: 'rejected', reason: odd }])
  t.strictSame((await settings.read(SESSION)).uris, uris)
  t.equal(writes(), 2)
  await t.rejects(settings.update(SESSION, () => { throw odd }), odd)
  t.equal(writes(), 2, 'a change that throws is not written')
})

t.test('the settings of one principal\'s sessions are limited', async (t) => {
  const store = createMemoryStateStore()
  const settings = open(t, store, { maxPerOwner: 3 * 64 })
  const sessions = Array.from({ length: 4 }, (_, index) => ({ ...SESSION, id: `o${index}` }))
  const [first = SESSION, , , last = SESSION] = sessions
  for (const session of sessions.slice(0, 3)) await addUri(settings, 'test:a', session)
  const refusal = { name: 'ProtocolError', code: 503, message: /^Too many sessions of yours \(/ }
  await t.rejects(addUri(settings, 'test:a', last), refusal)
  await t.resolves(addUri(settings, 'test:b', first), 'those that exist can be changed')
  await t.resolves(addUri(settings, 'test:a', { ...last, owner: 'bob' }), 'others have their own limit')
  await settings.delete(first)
  await t.resolves(addUri(settings, 'test:a', last))
})

t.test('the sessions of one network have a tenth of the settings', async (t) => {
  const store = createMemoryStateStore()
  const settings = open(t, store, { maxPerOwner: 64 })
  const sessions = Array.from({ length: 8 }, (_, index) => (
    { ...SESSION, id: `${index}`, owner: 'anonymous', network: '203.0.113.7' }
  ))
  const last = { ...SESSION, id: '7', owner: 'anonymous' }
  for (const session of sessions.slice(0, 7)) await addUri(settings, 'test:a', session)
  await t.rejects(addUri(settings, 'test:a', sessions[7]), {
    code: 503, message: /^Too many sessions of your address \(/, cause: { message: /^203\.0\.113\.7 has/ }
  })
  await addUri(settings, 'test:b', sessions[0])
  await addUri(settings, 'test:a', { ...last, network: '203.0.113.8' })
  await settings.delete({ ...last, network: '203.0.113.8' })
  await settings.delete(sessions[0] ?? SESSION)
  await addUri(settings, 'test:a', sessions[7])
  t.strictSame((await settings.read(sessions[7] ?? SESSION)).uris, ['test:a'], 'a deleted record makes room')
})

t.test('a record does not outlive its session', async (t) => {
  let now = 1_000_000
  const clock = () => now
  const store = createMemoryStateStore({ now: clock })
  const session = { ...SESSION, expiresAt: 1_050_000 }
  await addUri(open(t, store, { idleMs: 1_000_000, now: clock }), 'test:a', session)
  now = 1_050_000
  t.equal((await store.list(OWNER)).size, 0)
})

t.test('can be deleted', async (t) => {
  const store = createMemoryStateStore()
  const settings = open(t, store)
  await addUri(settings, 'test:a')
  await settings.delete(SESSION)
  t.strictSame(await settings.read(SESSION), { version: 0, uris: [] })
  t.equal((await store.list(OWNER)).size, 0)
})

t.test('the known members of another release\'s record are read', async (t) => {
  const store = createMemoryStateStore()
  for (
    const [name, value] of Object.entries({
      a: '[]', b: 'null', c: '{"logLevel":"loud","uris":[1,"test:a"],"version":"x","more":1}'
    })
  ) {
    await store.create({ owner: `session-settings-alice-${name}`, name }, toValue(value), { idleMs: 1000 }, 1)
    t.strictSame(await open(t, store).read({ ...SESSION, id: name }), {
      version: 0, uris: name === 'c' ? ['test:a'] : []
    })
  }
})

t.test('the store is read again after an error', async (t) => {
  const store = createMemoryStateStore()
  let fails = true
  const settings = open(t, {
    ...store, read: async (key) => { if (fails) throw new Error('away'); return await store.read(key) }
  })
  await t.rejects(settings.read(SESSION), /away/)
  fails = false
  t.strictSame(await settings.read(SESSION), { version: 0, uris: [] })
})
