// What the store has of tasks.

import t from 'tap'
import { ANONYMOUS } from '../../src/access/principal.ts'
import { createMemoryStateStore } from '../../src/store/backends/memory/state-store.ts'
import { createLocalDueTimes, StoreClock } from '../../src/store/records/due-times.ts'
import { StoreUnavailable } from '../../src/store/records/state-store.ts'
import { createSealer } from '../../src/store/sealing/sealer.ts'
import { FORM, type TaskRecord } from '../../src/tasks/record.ts'
import { TaskRecords } from '../../src/tasks/records.ts'
import { Transitions } from '../../src/tasks/transitions.ts'

const MAX = 3

function prepare () {
  const store = createMemoryStateStore()
  const open = (...secrets: string[]) =>
    new TaskRecords(store, createSealer(secrets), MAX)
  const records = open('first')
  const begin = async () => {
    const key = records.newKey(ANONYMOUS)
    return { key, created: await records.create(key, RECORD) }
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
  for (const text of ['private', 'ada', 'print_book', 'books']) t.notOk(bytes.includes(text), text)
  t.strictSame((await records.read(key))?.record, RECORD)
})

t.test('a record is confirmed without being written, and not if a failover has lost it', async (t) => {
  const { store, records, begin } = prepare()
  const transitions = new Transitions({
    records,
    dueTimes: createLocalDueTimes(),
    storeClock: new StoreClock(),
    leaseMs: 1000,
    announce () {},
    onUndone () {},
    onDue () {},
    isClosing: () => false
  })
  const { key, created } = await begin()
  const before = await store.peek(key.state)
  if (before === undefined) throw new TypeError('no record')
  await transitions.confirm(key, created)
  t.equal((await store.peek(key.state))?.version, before.version)
  const changed = await records.replace(key, created.version, { ...RECORD, generation: 1 })
  if (changed === undefined) throw new TypeError('not changed')
  await t.resolves(transitions.confirm(key, created), 'the later write has a writer of its own')
  await store.replace(key.state, changed.version, before.value)
  await t.rejects(transitions.confirm(key, changed), StoreUnavailable)
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
