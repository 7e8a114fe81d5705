// What the store has of tasks.

import { hash } from 'node:crypto'
import t from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { StoreUnavailable, type StateStore } from '../../../src/platform/store/records/state-store.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import type { TaskRecord } from '../../../src/features/tasks/records/record.ts'
import { FORM, readTaskBytes, toTaskBytes } from '../../../src/features/tasks/records/task-bytes.ts'
import { TaskRecords, type TaskKey } from '../../../src/features/tasks/records/records.ts'
import { until } from '../../helpers/deadline.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

const MAX = 3
const TAKEN = { message: 'the id of a new task is taken' }

/** Replaces operations of the store. */
function prepare (change: (store: StateStore) => Partial<StateStore> = () => ({})) {
  const medium = createMemoryStateStore()
  const store = { ...medium, ...change(medium) }
  const open = (...secrets: string[]) =>
    new TaskRecords(store, createSealer(secrets), MAX)
  const records = open('first')
  const begin = async () => {
    const key = records.newKey(ANONYMOUS)
    await records.create(key, RECORD)
    return { key }
  }
  return { store, open, records, begin }
}

const RECORD: TaskRecord = {
  tool: 'print_book',
  toolScopes: [],
  args: { title: 'a private title' },
  principal: { subject: 'ada', scopes: ['books'] },
  client: { revision: '2026-07-28', capabilities: {} },
  requestId: 'r-1',
  createdAt: Date.now(),
  ttlMs: 60_000,
  keepResultMs: 60_000,
  mayRerun: true,
  mayUndo: false,
  form: FORM,
  generation: 0,
  mark: 'first',
  status: 'working',
  updatedAt: Date.now(),
  run: 1,
  isRunning: true,
  isCalled: true,
  losses: 0,
  questions: {},
  answers: {},
  results: {},
  sleeps: {},
  order: []
}

t.test('the store has neither arguments nor claims in clear', async (t) => {
  const { store, records, begin } = prepare()
  const { key } = await begin()
  const bytes = (await store.read(key.state))?.value.bytes ?? Buffer.alloc(0)
  t.ok(bytes.length > 300)
  // Three letters alone are among random letters once in 700 runs.
  for (const text of ['private', '"ada"', 'print_book', 'books']) t.notOk(bytes.includes(text), text)
  t.strictSame((await records.read(key))?.record, RECORD)
})

t.test('a release that knows no failures of steps finds none among the results', async (t) => {
  const results = { one: '[1]', two: '{"name":"Error","message":"no","isTool":false}' }
  const bytes = toTaskBytes({ ...RECORD, results })
  t.strictSame(JSON.parse(bytes.toString()).results, { one: '[1]' })
  t.strictSame(readTaskBytes(bytes).results, results)
})

t.test('a record opens for its own task only', async (t) => {
  const { store, records, begin } = prepare()
  const [one, other] = [await begin(), await begin()]
  const [read, target] = [await store.read(one.key.state), await store.read(other.key.state)]
  if (read === undefined || target === undefined) throw new TypeError('no records')
  t.ok(await store.replace(other.key.state, target.version, read.value))
  t.equal(await records.read(other.key), undefined)
})

t.test('a record opens with each of the secrets, and not without the one that sealed it', async (t) => {
  const { open, begin } = prepare()
  const { key } = await begin()
  t.strictSame((await open('next', 'first').read(key))?.record, RECORD)
  t.equal(await open('next').read(key), undefined)
})

t.test('no two callers have a task of one id, though their calls have the same key', async (t) => {
  const { records } = prepare()
  const idOf = (subject: string) => records.keysFor({ ...ANONYMOUS, subject }, 'the same call')[0].id
  t.not(idOf('ada'), idOf('bob'), 'an operator would find the task of somebody else')
  t.equal(idOf('ada'), idOf('ada'))
})

t.test('a repetition that comes second keeps the place of the first call', async (t) => {
  const { store, records } = prepare()
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const place = { owner: `open-${key.state.owner}`, name: key.id }
  await records.create(key, RECORD)
  // The second one has reserved the place, and the first one has created the record.
  await store.delete(place)
  await t.rejects(records.create(key, { ...RECORD, mark: 'second' }), TAKEN)
  t.ok(await store.peek(place), 'the task counts')
  const stored = await records.read(key)
  await records.replace(key, stored?.version ?? '', { ...RECORD, status: 'completed', isRunning: false })
  await store.delete(place)
  await t.rejects(records.create(key, { ...RECORD, mark: 'third' }), TAKEN)
  await until(async () => await store.peek(place) === undefined, 'a task that has ended does not count')
})

t.test('a call that takes the place of a repetition over does so again after a lost reply', async (t) => {
  let losesReply = true
  const { store, records } = prepare((medium) => ({
    async replace (key, ...rest) {
      const replaced = await medium.replace(key, ...rest)
      if (!losesReply || !key.owner.startsWith('open-')) return replaced
      losesReply = false
      throw away()
    }
  }))
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const place = { owner: `open-${key.state.owner}`, name: key.id }
  await store.create(place, { bytes: Buffer.from('of a repetition') }, { idleMs: 60_000 }, MAX)
  t.match(await records.create(key, RECORD), { record: { run: 1 } }, 'its handler is not in vain')
  t.notOk(losesReply)
  t.equal((await store.peek(place))?.value.bytes.toString(), RECORD.mark)
})

t.test('a call knows the record that it has created, also if a repetition has written it', async (t) => {
  let losesReply = true
  let writes = 0
  const { records } = prepare((medium) => ({
    async create (key, ...rest) {
      const created = await medium.create(key, ...rest)
      if (!losesReply || key.owner.startsWith('open-')) return created
      losesReply = false
      const stored = await records.read(FIRST)
      t.ok(stored && await records.adopt(FIRST, stored))
      throw away()
    },
    async replace (...args) {
      const replaced = await medium.replace(...args)
      // The next reply is lost too.
      if (losesReply || ++writes !== 2) return replaced
      throw away()
    }
  }))
  const [FIRST] = records.keysFor(ANONYMOUS, 'the same call')
  const created = await records.create(FIRST, RECORD)
  t.match(created, { isInDoubt: true, record: { run: 1, generation: 1 } })
  t.strictSame(await records.read(FIRST), { record: created.record, version: created.version })
  await t.rejects(records.create(FIRST, { ...RECORD, mark: 'second' }), TAKEN)
})

t.test('a call knows its record, also if a repetition adopts it just before that is written', async (t) => {
  let losesReply = true
  let adopts = false
  const { records } = prepare((medium) => ({
    async create (key, ...rest) {
      const created = await medium.create(key, ...rest)
      if (!losesReply || key.owner.startsWith('open-')) return created
      losesReply = false
      adopts = true
      throw away()
    },
    async replace (...args) {
      if (adopts) {
        adopts = false
        const stored = await records.read(FIRST)
        t.ok(stored && await records.adopt(FIRST, stored))
      }
      return await medium.replace(...args)
    }
  }))
  const [FIRST] = records.keysFor(ANONYMOUS, 'the same call')
  t.match(await records.create(FIRST, RECORD), { isInDoubt: true, record: { generation: 1 } })
  t.notOk(adopts)
})

const NETWORK = '203.0.113.7'
const away = () => new StoreUnavailable(new Error('no answer in time'))

t.test('a repetition that cannot read the record of the first call keeps its places', async (t) => {
  const time = new VirtualTime(t)
  let isAway = false
  const { store, records } = prepare((medium) => ({
    async read (key) {
      if (isAway) throw away()
      return await medium.read(key)
    }
  }))
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const record = { ...RECORD, createdAt: time.now, network: NETWORK }
  await records.create(key, record)
  const places = await placesOf(store, key)
  t.equal(places.length, 2)
  isAway = true
  const repeating = records.create(key, { ...record, mark: 'second' })
  await time.during(t.rejects(repeating, StoreUnavailable), 10_000)
  isAway = false
  await time.during(timers.pause(RECORD.ttlMs - 5000), RECORD.ttlMs)
  t.strictSame(await placesOf(store, key), places)
})

t.test('a creation whose replies are all lost leaves no record', async (t) => {
  const time = new VirtualTime(t)
  let isAway = true
  const { store, records } = prepare((medium) => ({
    async create (key, ...rest) {
      const created = await medium.create(key, ...rest)
      if (isAway && /^tasks-(?!of-)/.test(key.owner)) throw away()
      return created
    }
  }))
  const key = records.newKey(ANONYMOUS)
  const record = { ...RECORD, createdAt: time.now, network: NETWORK }
  await time.during(t.rejects(records.create(key, record), StoreUnavailable), 10_000)
  t.ok(await store.peek(key.state))
  isAway = false
  await time.during(timers.pause(5000), 10_000)
  t.equal(await store.peek(key.state), undefined)
  t.strictSame(await placesOf(store, key), [])
})

t.test('a place that a lost write takes when its task has ended is removed', async (t) => {
  const time = new VirtualTime(t)
  const late: Array<() => Promise<unknown>> = []
  let isLate = false
  const { store, records } = prepare((medium) => ({
    async create (key, ...rest) {
      if (!isLate || !key.owner.startsWith('open-')) return await medium.create(key, ...rest)
      late.push(async () => await medium.create(key, ...rest))
      throw away()
    }
  }))
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const record = { ...RECORD, createdAt: time.now, network: NETWORK }
  const { version } = await records.create(key, record)
  isLate = true
  await t.rejects(records.create(key, { ...record, mark: 'second' }), StoreUnavailable)
  await records.replace(key, version, { ...record, status: 'completed', isRunning: false })
  await records.release(key, record)
  t.strictSame(await placesOf(store, key), [])
  for (const write of late) await write()
  t.equal((await placesOf(store, key)).length, 1)
  await time.during(timers.pause(RECORD.ttlMs / 2), RECORD.ttlMs)
  t.strictSame(await placesOf(store, key), [])
})

t.test('a repetition that was paused until the end of the task leaves no place', async (t) => {
  const time = new VirtualTime(t)
  let isPaused = true
  const { store, records } = prepare((medium) => ({
    async create (key, ...rest) {
      if (isPaused && key.owner.startsWith('open-')) await runFirst()
      return await medium.create(key, ...rest)
    }
  }))
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const record = { ...RECORD, createdAt: time.now, network: NETWORK }
  async function runFirst (): Promise<void> {
    isPaused = false
    const { version } = await records.create(key, record)
    await records.replace(key, version, { ...record, status: 'completed', isRunning: false })
    await records.release(key, record)
    t.strictSame(await placesOf(store, key), [])
  }
  await t.rejects(records.create(key, { ...record, mark: 'second' }), TAKEN)
  await time.during(timers.pause(2), 10)
  t.strictSame(await placesOf(store, key), [])
})

t.test('a first call that is refused leaves no place, and a repetition that it meets has one', async (t) => {
  for (const isRefused of [true, false]) {
    const time = new VirtualTime(t)
    let isAway = true
    const { store, records } = prepare((medium) => ({
      async create (key, ...rest) {
        if (isAway && /^tasks-(?!of-)/.test(key.owner)) {
          if (!isRefused) throw away()
          return 'full'
        }
        return await medium.create(key, ...rest)
      }
    }))
    const [key] = records.keysFor(ANONYMOUS, 'the same call')
    const record = { ...RECORD, createdAt: time.now, network: NETWORK }
    await time.during(t.rejects(records.create(key, record)), 10_000)
    await time.during(timers.pause(2), 10)
    t.equal((await placesOf(store, key)).length, isRefused ? 0 : 2)
    isAway = false
    await records.create(key, { ...record, mark: 'second' })
    await time.during(timers.pause(RECORD.ttlMs / 2), RECORD.ttlMs)
    t.equal((await placesOf(store, key)).length, 2)
  }
})

t.test('a place that a failed call is about to remove stays if a repetition is a task', async (t) => {
  const time = new VirtualTime(t)
  let isAway = true
  // The removal waits here: it has read the place, and found no record of the task.
  const looks: Array<() => void> = []
  const { store, records } = prepare((medium) => ({
    async create (key, ...rest) {
      if (isAway && /^tasks-(?!of-)/.test(key.owner)) throw away()
      return await medium.create(key, ...rest)
    },
    async read (key) {
      const record = await medium.read(key)
      if (record === undefined) await new Promise<void>((resolve) => { looks.push(resolve) })
      return record
    }
  }))
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const record = { ...RECORD, createdAt: time.now, network: NETWORK }
  await time.during(t.rejects(records.create(key, record), StoreUnavailable), 10_000)
  await time.during(timers.pause(1500), 2000)
  t.ok(looks.length > 0)
  isAway = false
  await records.create(key, { ...record, mark: 'second' })
  for (const goOn of looks) goOn()
  await time.during(timers.pause(RECORD.ttlMs / 2), RECORD.ttlMs)
  t.equal((await placesOf(store, key)).length, 2)
})

/** The names of the places of a task: for its owner, and for the network of its caller. */
async function placesOf (store: StateStore, { id, state }: TaskKey): Promise<readonly string[]> {
  const network = hash('sha256', NETWORK, 'base64url')
  const owners = [`open-${state.owner}`, `tasks-of-${network}`]
  const live = await Promise.all(owners.map(async (owner) => await store.peek({ owner, name: id })))
  return owners.filter((_, index) => live[index] !== undefined)
}

t.test('a repetition writes the record again, so that its creator does not remove it', async (t) => {
  const { records } = prepare()
  const [key] = records.keysFor(ANONYMOUS, 'the same call')
  const { record, version } = await records.create(key, RECORD)
  const adopted = await records.adopt(key, { record, version })
  t.not(adopted?.record.mark, RECORD.mark)
  t.equal(adopted?.record.generation, 1)
  t.equal(await records.adopt(key, { record, version }), undefined, 'it has changed')
  t.strictSame(adopted && await records.adopt(key, adopted), adopted, 'it is only confirmed')
})
