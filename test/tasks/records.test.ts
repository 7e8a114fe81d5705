// What the store has of tasks.

import t from 'tap'
import { ANONYMOUS } from '../../src/access/principal.ts'
import { createMemoryStateStore } from '../../src/store/backends/memory/state-store.ts'
import { createSealer } from '../../src/store/sealing/sealer.ts'
import { FORM, readTaskBytes, toTaskBytes, type TaskRecord } from '../../src/tasks/record.ts'
import { TaskRecords } from '../../src/tasks/records.ts'

const MAX = 3
const TAKEN = { message: 'the id of a new task is taken' }

function prepare () {
  const store = createMemoryStateStore()
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
  t.notOk(await store.peek(place), 'a task that has ended does not count')
})

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
