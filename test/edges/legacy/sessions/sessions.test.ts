// Who can open a session id, and for how long. The clocks are injected.

import t from 'tap'
import { ANONYMOUS, type Principal } from '../../../../src/platform/access/principal.ts'
import { openEndedSessions } from '../../../../src/edges/legacy/sessions/ended-sessions.ts'
import { SessionMessages } from '../../../../src/edges/legacy/sessions/session-messages.ts'
import type { Session } from '../../../../src/edges/legacy/sessions/session.ts'
import { Sessions } from '../../../../src/edges/legacy/sessions/sessions.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import type { Broadcast } from '../../../../src/platform/store/changes/broadcast.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'
import type { StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { createSealer } from '../../../../src/platform/store/sealing/sealer.ts'
import { SESSION } from '../../../helpers/negotiated-session.ts'
import { createLocalSessionMessages } from '../../../helpers/session-messages.ts'

const SECRET = 'the secret of these tests, which is long'
const TTL_MS = 100_000
const ALICE: Principal = { subject: 'alice', clientId: 'app', scopes: new Set() }
const SETTLED = {
  revision: '2025-06-18', clientInfo: { name: 'test', version: '1' }, clientCapabilities: { roots: {} }
}

interface ReplicaOptions {
  readonly store?: StateStore
  readonly messages?: SessionMessages
  readonly now?: () => number
  readonly secrets?: readonly string[]
}

async function open (
  t: { teardown (end: () => void): unknown },
  {
    store = createMemoryStateStore(), messages = createLocalSessionMessages(), now = Date.now,
    secrets = [SECRET]
  }: ReplicaOptions = {}
) {
  const ended = await openEndedSessions(store, messages, { onError: (error) => { throw error }, now })
  const sessions = new Sessions({ sealer: createSealer(secrets, { now }), ended, ttlMs: TTL_MS, now })
  t.teardown(() => ended.close())
  return { sessions, ended }
}

function opened (sessions: Sessions, token: string): Session {
  const session = sessions.open(token, ALICE)
  if (session === undefined) throw new Error('the session does not open')
  return session
}

t.test('an id contains what was negotiated, in visible ASCII, and is unique (322)', async (t) => {
  const { sessions } = await open(t)
  const tokens = Array.from(
    { length: 100 },
    () => sessions.create({ ...SETTLED, clientInfo: { name: 'Grüße 👋\n', version: '1' } }, {
      principal: ALICE
    })
  )
  t.equal(new Set(tokens).size, 100)
  t.equal(new Set(tokens.map((token) => opened(sessions, token).id)).size, 100)
  for (const token of tokens) t.match(token, /^[\x21-\x7e]+$/)
  const [token = ''] = tokens
  t.match(opened(sessions, token), { ...SETTLED, clientInfo: { name: 'Grüße 👋\n', version: '1' } })
  t.notMatch(token, /alice/)
})

t.test('every replica with the secret can open it, also after a restart', async (t) => {
  const token = (await open(t)).sessions.create(SETTLED, { principal: ALICE })
  t.match(opened((await open(t)).sessions, token), SETTLED)
  t.match(
    opened((await open(t, { secrets: ['another secret that came later', SECRET] })).sessions, token), SETTLED,
    'while the secret is replaced'
  )
  t.equal(
    (await open(t, { secrets: ['another secret that came later'] })).sessions.open(token, ALICE), undefined
  )
})

t.test('another principal cannot open it, even if it is in memory (324)', async (t) => {
  const { sessions } = await open(t)
  const token = sessions.create(SETTLED, { principal: ALICE })
  opened(sessions, token)
  for (const principal of [
    { scopes: new Set<string>() }, { ...ALICE, subject: 'bob' }, { ...ALICE, clientId: 'other' },
    { subject: 'alice', scopes: new Set<string>() }
  ]) {
    t.equal(sessions.open(token, principal), undefined)
  }
  t.match(
    sessions.open(token, { ...ALICE, scopes: new Set(['more']) }), SETTLED,
    'whatever is granted to its owner later'
  )
})

t.test('cannot be opened if a single character is changed (324)', async (t) => {
  const { sessions } = await open(t)
  const token = sessions.create(SETTLED, { principal: ALICE })
  for (let at = 0; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    t.equal(sessions.open(changed, ALICE), undefined)
  }
  for (const wrong of [
    '', '.', token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`, token.toUpperCase(), '__proto__',
    'x'.repeat(10_000)
  ]) {
    t.equal(sessions.open(wrong, ALICE), undefined)
  }
})

t.test('a token that was sealed for another purpose is not a session', async (t) => {
  const { sessions } = await open(t)
  const body = Buffer.from(JSON.stringify({ id: 'x', expiresAt: Date.now() + TTL_MS, ...SETTLED }))
  t.equal(
    sessions.open(createSealer([SECRET]).seal('request-state', 'anonymous', body, Date.now() + TTL_MS), {
      scopes: new Set()
    }),
    undefined
  )
})

t.test('expires, also if it is in memory (324)', async (t) => {
  let now = 1_000_000
  const clock = { now: () => now }
  const { sessions } = await open(t, clock)
  const token = sessions.create(SETTLED, { principal: ALICE })
  now += TTL_MS - 1
  t.equal(opened(sessions, token).expiresAt, 1_000_000 + TTL_MS)
  now += 1
  t.equal(sessions.open(token, ALICE), undefined, 'where it is remembered')
  t.equal((await open(t, clock)).sessions.open(token, ALICE), undefined, 'where it is not')
})

t.test('no replica opens an ended session, also one that starts later (324, 325)', async (t) => {
  const store = createMemoryStateStore()
  const messages = createLocalSessionMessages()
  const here = await open(t, { store, messages })
  const there = await open(t, { store, messages })
  const token = here.sessions.create(SETTLED, { principal: ALICE })
  const other = here.sessions.create(SETTLED, { principal: ALICE })
  opened(there.sessions, token)
  await here.ended.add(opened(here.sessions, token))
  const later = await open(t, { store })
  for (const { sessions } of [here, there, later]) {
    t.equal(sessions.open(token, ALICE), undefined)
    t.match(sessions.open(other, ALICE), SETTLED)
  }
})

t.test('its end is loaded from the store after missed messages', async (t) => {
  const store = createMemoryStateStore()
  let miss = () => {}
  const listen: Broadcast['listen'] = (_, onMissed = () => {}) => { miss = onMissed; return () => {} }
  const deaf = new SessionMessages({ ...createLocalBroadcast(), send: async () => {}, listen }, () => {})
  const here = await open(t, { store })
  const there = await open(t, { store, messages: deaf })
  const token = here.sessions.create(SETTLED, { principal: ALICE })
  const told: string[] = []
  there.ended.onEnd((id) => { told.push(id) })
  const session = opened(here.sessions, token)
  await here.ended.add(session)
  t.match(there.sessions.open(token, ALICE), SETTLED, 'it has not heard')
  for (let times = 0; times < 2; times++) {
    miss()
    await new Promise(setImmediate)
  }
  t.strictSame(told, [session.id], 'whoever serves the session is told once')
  t.equal(there.sessions.open(token, ALICE), undefined)
})

t.test('a large client description is shortened, and its capabilities are kept', async (t) => {
  const { sessions } = await open(t)
  const big = 'x'.repeat(100_000)
  for (const clientCapabilities of [
    {
      elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {}, experimental: { big: { big } }
    },
    { elicitation: { form: {}, url: {}, big }, sampling: { tools: {}, big }, roots: { big } }
  ]) {
    const token = sessions.create(
      { ...SETTLED, clientInfo: { name: big, version: big, ...{ title: big } }, clientCapabilities },
      { principal: ALICE }
    )
    t.ok(token.length < 6000, `${token.length} characters`)
    const { clientInfo, clientCapabilities: kept, revision } = opened(sessions, token)
    t.equal(revision, '2025-06-18')
    t.equal(clientInfo?.name, 'x'.repeat(200))
    t.match(kept, { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} })
  }
})

t.test('an ended session stays ended, however many others end after it', async (t) => {
  const [store, messages] = [createMemoryStateStore(), createLocalSessionMessages()]
  const openReplica = async () => {
    const ended = await openEndedSessions(store, messages, {
      onError: (error) => { throw error }, maxEnded: 3
    })
    t.teardown(() => ended.close())
    return ended
  }
  const ended = await openReplica()
  const other = await openReplica()
  const { sessions } = await open(t)
  const all = Array.from({ length: 5 }, () => opened(
    sessions, sessions.create(SETTLED, { principal: ALICE })
  ))
  const outcomes = await Promise.all(all.map(async (session) => await ended.add(session).then(
    () => 'ended', ({ httpStatus }: { httpStatus?: number }) => httpStatus
  )))
  t.strictSame(outcomes, ['ended', 'ended', 'ended', 503, 503])
  for (const replica of [ended, other, await openReplica()]) {
    t.strictSame(all.map(({ id }) => replica.has(id)), [true, true, true, false, false])
  }
})

t.test('the network of the sender that began the session is sealed in it', async (t) => {
  const { sessions } = await open(t)
  const begin = (address?: string) => {
    const session = sessions.open(sessions.create(SETTLED, { principal: ANONYMOUS, address }), ANONYMOUS)
    return session?.network
  }
  t.equal(begin('203.0.113.7'), '203.0.113.7')
  t.equal(begin('2001:db8:0:1::7'), '2001:db8:0:1::/64')
  t.equal(begin('127.0.0.1'), undefined)
  t.equal(begin(), undefined)
  const sender = { principal: ALICE, address: '203.0.113.7' }
  t.equal(opened(sessions, sessions.create(SETTLED, sender)).network, undefined)
})

t.test('one network ends at most a tenth of the sessions whose ends are remembered', async (t) => {
  const store = createMemoryStateStore()
  const ended = await openEndedSessions(store, createLocalSessionMessages(), {
    onError: (error) => { throw error }, maxEnded: 11
  })
  t.teardown(() => ended.close())
  const end = async (id: string, network?: string) => await ended.add(
    { ...SESSION, id, owner: 'anonymous', ...(network !== undefined && { network }) }
  )
  await end('a', '203.0.113.7')
  await end('b', '203.0.113.7')
  await t.rejects(end('c', '203.0.113.7'), {
    code: 503, message: /^Too many ended sessions of your address in this service/, cause: { message: /^203\.0\.113\.7 has/ }
  })
  t.notOk(ended.has('c'))
  await end('a', '203.0.113.7')
  for (const [id, network] of [['c', '203.0.113.8'], ['d']] as const) {
    await end(id, network)
    t.ok(ended.has(id))
  }
})

t.test('the ends of one principal\'s sessions are limited', async (t) => {
  const ended = await openEndedSessions(createMemoryStateStore(), createLocalSessionMessages(), {
    onError: (error) => { throw error }, maxPerOwner: 2
  })
  t.teardown(() => ended.close())
  const end = async (id: string, owner: string) => await ended.add({ ...SESSION, id, owner })
  await end('a', 'ada')
  await end('b', 'ada')
  await t.rejects(end('c', 'ada'), {
    code: 503, message: /^Too many ended sessions of yours in this service/, cause: undefined
  })
  t.notOk(ended.has('c'))
  await end('a', 'ada')
  const others = [['d', 'bob'], ['e', 'anonymous'], ['f', 'anonymous'], ['g', 'anonymous']] as const
  for (const [id, owner] of others) {
    await end(id, owner)
    t.ok(ended.has(id))
  }
})
