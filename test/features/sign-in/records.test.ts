// The records of sign-ins: their bounds, their lifetimes, and what another release keeps in them.

import { errors } from 'oidc-provider'
import t from 'tap'
import { replaceTime } from '../../../src/base/time.ts'
import { createEngineAdapters } from '../../../src/features/sign-in/engine/engine-adapter.ts'
import { createRefreshTokens } from '../../../src/features/sign-in/engine/refresh-tokens.ts'
import { createRegistrations } from '../../../src/features/sign-in/engine/registrations.ts'
import { createGrantRecords, type GrantRecord } from '../../../src/features/sign-in/grants/grant-records.ts'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { networkOf } from '../../../src/platform/limits/holder.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import type { StateKey } from '../../../src/platform/store/records/state-store.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { openReplicas, SECRET, toRefreshForm } from './engine-replicas.ts'

const DAY_MS = 86_400_000
/** The rate at which each network may begin flows is another limit. */
const FLOWS = 100_000
const SHARE = 5000
const PURPOSE = 'tokens of the identity provider'

const toRecord = (): GrantRecord => ({
  grant: {},
  about: { clientName: 'Test', createdAt: Date.now() },
  endsAt: Date.now() + 90 * DAY_MS,
  provider: { sealed: 'x' }
})

t.test('100,000 half-finished flows of one network leave the others unaffected', async (t) => {
  let network: string | undefined
  const store = createMemoryStateStore()
  const sealer = createSealer(['a secret'])
  const reasons: string[] = []
  const flows = createEngineAdapters({
    store,
    grants: createGrantRecords(store, { idleMs: DAY_MS }),
    registrations: createRegistrations(sealer),
    refreshTokens: createRefreshTokens(sealer),
    readNetwork: () => network
  })('Interaction')
  const begin = async (id: string) => await flows.upsert(id, { params: {} }, 900)
  network = '192.0.2.1'
  const startedAt = process.cpuUsage()
  for (let number = 0; number < FLOWS; number++) {
    await begin(`attack-${number}`).catch((error: unknown) => {
      if (!(error instanceof errors.TemporarilyUnavailable)) throw error
      reasons.push(error.error_description ?? '')
    })
  }
  const { user } = process.cpuUsage(startedAt)
  t.equal(reasons.length, FLOWS - SHARE)
  t.strictSame([...new Set(reasons)], [
    `Too many unfinished sign-ins of your address in this service (${SHARE}). Try again later.`
  ])
  t.comment(`${(user / FLOWS).toFixed(1)} µs of CPU for each`)
  const refused: Array<string | undefined> = []
  for (let number = 0; number <= SHARE; number++) {
    network = networkOf({ principal: ANONYMOUS, address: `2001:db8:2:${number.toString(16)}::1` })
    await begin(`neighbour-${number}`).catch(() => { refused.push(network) })
  }
  t.strictSame(refused, ['2001:db8:2:1388::/64'], 'neighbours in IPv6 share')
  for (const other of ['192.0.2.2', '2001:db8:3:1388::/64', undefined]) {
    network = other
    await begin(`other-${other}`)
    t.ok(await flows.find(`other-${other}`), 'another network begins a flow')
  }
  network = '192.0.2.1'
  await flows.destroy('attack-0')
  await begin('one more')
  t.match(await begin('two more').catch(String), /temporarily_unavailable/, 'a flow that ends gives its place back')
  t.teardown(replaceTime({ now: () => Date.now() + 920_000 }))
  await begin('later')
  t.equal(await flows.find('attack-1'), undefined, 'all expire')
})

t.test('a grant', async (t) => {
  const store = createMemoryStateStore()
  const grants = createGrantRecords(store, { idleMs: 14 * DAY_MS })

  t.test('that is never used is gone after ten minutes', async (t) => {
    const id = grants.newId('bob')
    t.ok(await grants.create(id, toRecord()))
    const used = grants.newId('bob')
    await grants.create(used, toRecord())
    await grants.change(used, (record) => record, { isUse: true })
    t.teardown(replaceTime({ now: () => Date.now() + 11 * 60_000 }))
    t.equal(await grants.isLive(id), false)
    t.equal(await grants.isLive(used), true)
  })

  t.test('is one of 100 of a person, and the next is refused', async (t) => {
    const ids = Array.from({ length: 101 }, () => grants.newId('alice'))
    const outcomes = []
    for (const id of ids) outcomes.push(await grants.create(id, toRecord()))
    t.strictSame(outcomes, ids.map((_, number) => number < 100))
    t.ok(await grants.create(grants.newId('carol'), toRecord()), 'others are unaffected')
    await grants.remove(ids[0] ?? '')
    t.ok(await grants.create(grants.newId('alice'), toRecord()))
  })

  t.test('keeps what another release has written into it', async (t) => {
    const { well, createCode } = await openReplicas(t)
    const { form, clientId, grantId } = await createCode()
    await well.grants.change(grantId, (record) => ({ ...record, later: { member: [1, 2] } }))
    const { body: { refresh_token: token } } = await well.ask(form)
    t.equal((await well.ask(toRefreshForm(clientId, token))).status, 200)
    t.match(await well.grants.read(grantId), { later: { member: [1, 2] }, refresh: { rotation: 1 } })
  })

  t.test('of another release that this one cannot read is refused, and others are unaffected', async (t) => {
    const { well, memory, createCode } = await openReplicas(t)
    const begin = async () => {
      const { form, clientId, grantId } = await createCode()
      const { body } = await well.ask(form)
      const [owner, name = ''] = grantId.split('.')
      const key = { owner: `grants-${owner}`, name }
      return { grantId, key, form: toRefreshForm(clientId, body.refresh_token) }
    }
    const other = await begin()
    const write = async (key: StateKey, text: string) => {
      const { version = '' } = await memory.peek(key) ?? {}
      await memory.replace(key, version, { bytes: Buffer.from(text) })
    }
    const { seal } = createSealer([SECRET])
    const sealed = (id: string, text: string) => ({
      provider: { sealed: seal(PURPOSE, id, Buffer.from(text), Date.now() + DAY_MS) }
    })
    const changes: Readonly<Record<string, (record: GrantRecord, id: string) => unknown>> = {
      'no JSON': () => undefined,
      null: () => null,
      'no provider': ({ provider: _, ...record }) => record,
      'another form of the family': (record) => ({ ...record, refresh: [1] }),
      'another form of the seal': (record) => ({ ...record, provider: { sealed: 'v2:abc' } }),
      'a sealed text that is no JSON': (record, id) => ({ ...record, ...sealed(id, '\u0001') }),
      'sealed tokens of another form': (record, id) => ({ ...record, ...sealed(id, '{"tokens":{}}') }),
      'an end that no seal can have': (record) => ({ ...record, endsAt: 2 ** 48 })
    }
    for (const [about, change] of Object.entries(changes)) {
      const { grantId, key, form } = await begin()
      const record = await well.grants.read(grantId)
      if (record === undefined) throw new Error('unreachable')
      await write(key, JSON.stringify(change(record, grantId)) ?? 'no JSON')
      t.match(await well.ask(form), { status: 400, body: { error: 'invalid_grant' } }, about)
      t.ok((await well.grants.list('alice')).includes(grantId), 'another release may still serve it')
    }
    const all = await Promise.all((await well.grants.list('alice')).map(well.grants.read))
    t.ok(all.some((record) => record === undefined), 'a page of all grants of the person can be made')
    t.equal((await well.ask(other.form)).status, 200)
  })

  t.test('lives without optional members, and with an end in the far future', async (t) => {
    const { well, createCode } = await openReplicas(t)
    const { form, clientId, grantId } = await createCode()
    const { body: { refresh_token: token } } = await well.ask(form)
    await well.grants.change(grantId, ({ refresh, ...record }) => {
      if (refresh === undefined) throw new Error('unreachable')
      const { mark: _, ...family } = refresh
      return { ...record, refresh: family, endsAt: 2 ** 48 - 1 }
    })
    t.equal((await well.ask(toRefreshForm(clientId, token))).status, 200)
    t.match(await well.grants.read(grantId), { endsAt: 2 ** 48 - 1, refresh: { rotation: 1, mark: String } })
  })

  t.test('has no code and no token that somebody could use who reads the store', async (t) => {
    const { well, memory, createCode } = await openReplicas(t)
    const { form, grantId } = await createCode()
    const { body: { refresh_token: token } } = await well.ask(form)
    const owner = `grants-${grantId.split('.')[0]}`
    const texts = []
    for (const kind of [owner, 'sign-in-authorizationcode']) {
      for (const name of (await memory.list(kind)).keys()) {
        texts.push(name, String((await memory.peek({ owner: kind, name }))?.value.bytes))
      }
    }
    const stored = texts.join(' ')
    t.ok(stored.includes('codeChallenge'))
    const proof = String(token).split('.').at(-1) ?? ''
    for (const secret of [form.code, proof, 'refresh-0', 'access']) t.notOk(stored.includes(secret))
  })
})

t.test('two requests with one assertion of a client: one of them counts', async (t) => {
  const store = createMemoryStateStore()
  const sealer = createSealer(['a secret'])
  const replays = createEngineAdapters({
    store,
    grants: createGrantRecords(store, { idleMs: DAY_MS }),
    registrations: createRegistrations(sealer),
    refreshTokens: createRefreshTokens(sealer),
    readNetwork: () => undefined
  })('ReplayDetection')
  await replays.upsert('assertion', {}, 60)
  const second = await replays.upsert('assertion', {}, 60).catch((error: unknown) => error)
  t.match(second, { error: 'invalid_client', error_detail: /count once/ }, 'both had found none')
})
