// A call gets one answer, whatever happens to the replica that runs it: at every operation of the store it is
// killed, paused for longer than its lease, or loses the reply.

import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../../src/platform/access/principal.ts'
import { clock, timers } from '../../../../src/base/time.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import {
  createFirstAnswers, KeyReused, type FirstAnswer, type FirstRun, type Repeatable
} from '../../../../src/platform/store/records/first-answers.ts'
import { StoreUnavailable, type StateKey } from '../../../../src/platform/store/records/state-store.ts'
import { FAULTS, FaultyStore } from '../../../helpers/faulty-store.ts'
import { VirtualTime } from '../../../helpers/virtual-time.ts'

const LEASE_MS = 15_000
const KEEP_MS = 60_000
/** Longer than a lease: the runner renews it. */
const RUN_MS = 20_000
const MAX_MS = 600_000
/** More than the operations of the store in one call. */
const OPERATIONS = 12
const CALL: Repeatable = {
  sender: { principal: { ...ANONYMOUS, subject: 'ada' } },
  key: ['tool', 1],
  args: {},
  timeoutMs: 300_000,
  onUnkept () {}
}
const ANSWER: FirstAnswer = { result: '{"content":[]}', isError: false }
const signal = () => new AbortController().signal

function runOf (begun: FirstAnswer | FirstRun): FirstRun {
  if ('result' in begun) throw new Error('the call is answered already')
  return begun
}

/** Replicas over one store, whose clock is 90 s ahead of theirs or behind it. */
function openWorld (t: Test, aheadMs = 90_000) {
  const store = createMemoryStateStore({ now: () => clock.now() + aheadMs })
  t.teardown(async () => await store.close())
  let runs = 0
  return {
    store,
    get runs () { return runs },
    openReplica (pauseMs = 3 * LEASE_MS) {
      const faulty = new FaultyStore(store, pauseMs)
      const answers = createFirstAnswers(faulty.store)
      return {
        faulty,
        begin: async (changes: Partial<Repeatable> = {}) => (
          await answers.begin({ ...CALL, ...changes }, signal)
        ),
        /** Resolves to the answer of the call, as its client gets it. */
        async call (): Promise<string> {
          const begun = await answers.begin(CALL, signal)
          if ('result' in begun) return begun.result
          const result = `answer ${++runs}`
          await timers.pause(RUN_MS)
          return (await begun.keep({ result, isError: false })).result
        }
      }
    }
  }
}

for (const fault of FAULTS) {
  t.test(`${fault}, at each operation of a call that is repeated`, async (t) => {
    const time = new VirtualTime(t)
    let faults = 0
    for (let at = 0; at < OPERATIONS; at++) {
      const world = openWorld(t, at % 2 === 0 ? 90_000 : -90_000)
      const [first, second] = [world.openReplica(), world.openReplica()]
      first.faulty.fail(at, fault)
      const start = time.now
      const calling = first.call().catch(() => 'refused')
      await time.during(timers.pause(1000), MAX_MS)
      const repeated = await time.during(second.call(), MAX_MS)
      t.ok(time.now - start <= 2 * (LEASE_MS + RUN_MS), `operation ${at}: after ${time.now - start} ms`)
      const later = await time.during(second.call(), MAX_MS)
      t.equal(later, repeated, `operation ${at}: kept`)
      if (first.faulty.operations > at) faults++
      if (fault === 'lost' || fault === 'refused') t.equal(world.runs, 1, `operation ${at}: one run`)
      if (first.faulty.isDead) continue
      t.equal(await time.during(calling, MAX_MS), repeated, `operation ${at}: the same answer`)
    }
    t.ok(faults > 3, `${faults} faults`)
  })
}

t.test('an answer is kept for a minute after the call, however often it is read', async (t) => {
  const time = new VirtualTime(t)
  const { call, begin } = openWorld(t).openReplica()
  const first = await time.during(call(), MAX_MS)
  const end = time.now + KEEP_MS
  for (let at = 0; at < 5; at++) {
    t.equal(await time.during(call(), MAX_MS), first)
    await time.during(timers.pause((end - time.now) / 2), MAX_MS)
  }
  await time.during(timers.pause(KEEP_MS / 2), MAX_MS)
  await runOf(await begin()).drop()
})

t.test('while the store is away no call begins, and an answer waits for it', async (t) => {
  const time = new VirtualTime(t)
  const { faulty, begin } = openWorld(t).openReplica()
  faulty.isAway = true
  await t.rejects(time.during(begin(), MAX_MS), StoreUnavailable)
  faulty.isAway = false
  const run = runOf(await begin())
  faulty.isAway = true
  const keeping = run.keep(ANSWER)
  await time.during(timers.pause(LEASE_MS / 2), MAX_MS)
  faulty.isAway = false
  t.strictSame(await time.during(keeping, MAX_MS), ANSWER)
  t.strictSame(await begin(), ANSWER)
  const other = runOf(await begin({ key: 'other' }))
  faulty.isAway = true
  await t.rejects(time.during(other.keep(ANSWER), MAX_MS), StoreUnavailable, 'only a kept answer is given')
})

t.test('a repetition waits until the answer is durable, and does not write it again', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(t)
  const [first, second] = [world.openReplica(), world.openReplica()]
  const run = runOf(await first.begin())
  first.faulty.fail(0, 'killed-after')
  run.keep(ANSWER).catch(() => {})
  const { confirm } = world.store
  let confirmations = 0
  Object.assign(second.faulty.store, {
    confirm: async (...args: Parameters<typeof confirm>) => {
      if (++confirmations > 1) return await confirm(...args)
      throw new StoreUnavailable(new Error('no replica has the write'))
    },
    replace: async () => { t.fail('nothing is written') }
  })
  t.strictSame(await time.during(second.begin(), MAX_MS), ANSWER)
  t.equal(confirmations, 2)
})

t.test('an answer that a failover took away is none', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(t)
  const [first, second] = [world.openReplica(), world.openReplica()]
  await runOf(await first.begin()).keep(ANSWER)
  Object.assign(second.faulty.store, {
    confirm: async (key: StateKey) => {
      await world.store.delete(key)
      return false
    }
  })
  await runOf(await time.during(second.begin(), MAX_MS)).drop()
})

t.test('a run whose reply to its answer was lost does not write it again', async (t) => {
  const time = new VirtualTime(t)
  const { faulty, begin } = openWorld(t).openReplica()
  const run = runOf(await begin())
  faulty.fail(0, 'lost')
  const { replace } = faulty.store
  let written = 0
  Object.assign(faulty.store, {
    replace: async (...args: Parameters<typeof replace>) => {
      const record = await replace(...args)
      if (record !== undefined) written++
      return record
    }
  })
  t.strictSame(await time.during(run.keep(ANSWER), MAX_MS), ANSWER)
  t.equal(written, 0)
  t.strictSame(await begin(), ANSWER)
})

t.test('a run that lost its lease does not drop the record of another one', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(t)
  const [first, second] = [world.openReplica(), world.openReplica()]
  const lost = runOf(await first.begin())
  first.faulty.isAway = true
  const run = runOf(await time.during(second.begin(), MAX_MS))
  first.faulty.isAway = false
  await lost.drop()
  const repeating = first.begin()
  await time.during(timers.pause(1000), MAX_MS)
  await run.keep(ANSWER)
  t.strictSame(await time.during(repeating, MAX_MS), ANSWER)
})

t.test('a run whose first reply was lost knows its record, and begins at once', async (t) => {
  const time = new VirtualTime(t)
  const { faulty, begin } = openWorld(t).openReplica()
  faulty.fail(0, 'lost')
  const start = time.now
  await runOf(await time.during(begin(), MAX_MS)).drop()
  t.ok(time.now - start < 1000)
})

const LATE = { paused: ['paused'], 'paused after a lost reply': ['lost', 'paused'] } as const
for (const [what, faults] of Object.entries(LATE)) {
  t.test(`a replica that is ${what}, longer than its lease, before the run does not run the call`, async (t) => {
    const time = new VirtualTime(t)
    const world = openWorld(t)
    const [first, second] = [world.openReplica(), world.openReplica()]
    first.faulty.fail(0, faults[0])
    const calling = first.call()
    await time.during(timers.pause(1), MAX_MS)
    // The operations are the creation, the repeated one, the look at the record, and its use.
    if (faults.length > 1) first.faulty.fail(2, 'paused')
    await time.during(timers.pause(1000), MAX_MS)
    t.equal(await time.during(second.call(), MAX_MS), 'answer 1')
    t.equal(await time.during(calling, MAX_MS), 'answer 1')
    t.equal(world.runs, 1)
  })
}

t.test('a replica that is paused for most of its lease before the run keeps the call', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(t)
  const [first, second] = [world.openReplica(LEASE_MS - 1000), world.openReplica()]
  first.faulty.fail(0, 'paused')
  const calling = first.call()
  await time.during(timers.pause(1), MAX_MS)
  t.equal(await time.during(second.call(), MAX_MS), 'answer 1')
  t.equal(await time.during(calling, MAX_MS), 'answer 1')
  t.equal(world.runs, 1)
})

t.test('a record that cannot be read belongs to a call that runs', async (t) => {
  const time = new VirtualTime(t)
  const { begin, faulty: { store } } = openWorld(t).openReplica()
  await runOf(await begin()).keep(ANSWER)
  const { peek } = store
  for (const bytes of ['\u0001other\n{}', '[]\n', '{"state":"ok"}\n{}']) {
    let peeks = 0
    store.peek = async (key) => {
      const record = await peek(key)
      return record && { ...record, value: { bytes: Buffer.from(bytes) } }
    }
    const beginning = begin()
    beginning.catch(() => {})
    await time.during(timers.pause(2000), MAX_MS)
    store.peek = async (key) => {
      peeks++
      return await peek(key)
    }
    t.strictSame(await time.during(beginning, MAX_MS), ANSWER, bytes)
    t.equal(peeks, 1, 'it waited')
  }
})

t.test('the next repetition of a run that was dropped begins at once', async (t) => {
  const time = new VirtualTime(t)
  const { begin } = openWorld(t).openReplica()
  const run = runOf(await begin())
  const repeating = begin()
  await run.drop()
  const start = time.now
  await runOf(await time.during(repeating, MAX_MS)).drop()
  t.ok(time.now - start < 1000)
})

t.test('a key with other arguments is refused, also while the call runs', async (t) => {
  const time = new VirtualTime(t)
  const { begin } = openWorld(t).openReplica()
  const run = runOf(await begin())
  const refusal = async () => (
    await time.during(begin({ args: { a: 1 } }), MAX_MS).catch((error: unknown) => error)
  )
  t.ok(await refusal() instanceof KeyReused)
  await run.keep(ANSWER)
  t.ok(await refusal() instanceof KeyReused)
})

t.test('a principal can keep 1,000 answers; further calls run each time, and the log says so', async (t) => {
  const time = new VirtualTime(t)
  const { begin } = openWorld(t).openReplica()
  for (let id = 0; id < 1000; id++) await runOf(await begin({ key: id })).keep(ANSWER)
  t.strictSame(await time.during(begin({ key: 999 }), MAX_MS), ANSWER)
  const causes: Error[] = []
  const onUnkept = (cause: Error) => { causes.push(cause) }
  const run = runOf(await begin({ key: 1000, onUnkept }))
  t.strictSame(await run.keep(ANSWER), ANSWER)
  await runOf(await begin({ key: 1000, onUnkept })).drop()
  t.match(causes, [{ message: /^Too many kept answers of yours \(1000\)/ }, Error])
})

t.test('a network without a principal can keep its share of the answers', async (t) => {
  const time = new VirtualTime(t)
  const { begin } = openWorld(t).openReplica()
  const causes: Error[] = []
  const beginFrom = async (address: string, key: number) => await begin({
    sender: { principal: ANONYMOUS, address }, key, onUnkept: (cause) => { causes.push(cause) }
  })
  for (let id = 0; id < 100; id++) await runOf(await beginFrom('192.0.2.1', id)).keep(ANSWER)
  // Longer than a lease: the share counts answers.
  await time.during(timers.pause(2 * LEASE_MS), MAX_MS)
  await runOf(await beginFrom('192.0.2.1', 100)).keep(ANSWER)
  t.match(causes, [{ name: 'ShareUsed' }])
  t.strictSame(await beginFrom('192.0.2.1', 99), ANSWER)
  await runOf(await beginFrom('192.0.2.2', 1)).drop()
  t.equal(causes.length, 1)
})
