// What waits for one statement after the other waits for a bounded time.

import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { createLocalCallCounter } from '../../../../../src/platform/limits/local-call-counter.ts'
import { openPostgresBroadcast } from '../../../../../src/platform/store/backends/postgres/broadcast.ts'
import {
  createPostgresCallCounter
} from '../../../../../src/platform/store/backends/postgres/call-counter.ts'
import { createPostgresEventLog } from '../../../../../src/platform/store/backends/postgres/event-log.ts'
import { gatherInOrder, type Waiter } from '../../../../../src/platform/store/backends/postgres/gather.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { until } from '../../../../helpers/deadline.ts'
import { openPool } from './connect.ts'

const COUNT = 1000
/** A call within its deadline, on a busy machine. Without one it waits for as long as the lock is held. */
const IN_TIME_MS = 5000

async function lock (t: Test, { url }: PostgresServer, table: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.teardown(async () => await client.end())
  await client.query(`BEGIN; LOCK TABLE ${table}`)
}

/** Also returns how long all of them took, in milliseconds. */
async function runMany (act: (index: number) => Promise<unknown>) {
  const begunAt = performance.now()
  const acts = Array.from({ length: COUNT }, async (_, index) => await act(index))
  const rejected = (await Promise.allSettled(acts)).filter(({ status }) => status === 'rejected').length
  return { rejected, ms: performance.now() - begunAt }
}

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  t.test('while somebody holds the channel, messages reject in time', async (t) => {
    const { target, pool, names } = await openPool(t, server.url, 'sent')
    const broadcast = await openPostgresBroadcast({ target, runner: pool, names, onError () {} })
    t.teardown(async () => await broadcast.close())
    await lock(t, server, 'sent.messages')
    const { rejected, ms } = await runMany(async (number) => {
      await broadcast.send({ type: 'test-numbered', number })
    })
    t.equal(rejected, COUNT)
    t.ok(ms < IN_TIME_MS, `${ms} ms`)
  })

  t.test('while somebody holds the events, appending rejects in time', async (t) => {
    const { pool, names } = await openPool(t, server.url, 'appended')
    const log = createPostgresEventLog(pool, { names, maxEvents: COUNT, ttlMs: 60_000 })
    await lock(t, server, 'appended.events')
    const { rejected, ms } = await runMany(async (index) => {
      await log.append('s', { position: index + 1, text: 'x' })
    })
    t.equal(rejected, COUNT)
    t.ok(ms < IN_TIME_MS, `${ms} ms`)
  })

  t.test('while somebody holds the counts, all calls soon count by themselves', async (t) => {
    const { pool, names } = await openPool(t, server.url, 'counted')
    const counter = createPostgresCallCounter(pool, { names, local: createLocalCallCounter(), onError () {} })
    await lock(t, server, 'counted.calls')
    const rate = { key: 'a caller', calls: 10, perMs: 60_000 }
    const begunAt = performance.now()
    const used = await Promise.all(Array.from({ length: COUNT }, async () => await counter.count([rate])))
    t.equal(used.filter((one) => one === undefined).length, 10)
    t.ok(performance.now() - begunAt < IN_TIME_MS, `${performance.now() - begunAt} ms`)
  })
}

t.test('a failure is one of its statement alone, and of those that exceed the bound', async (t) => {
  const runs: number[] = []
  const ask = gatherInOrder<Waiter<number> & { readonly number: number }>(async (items) => {
    runs.push(items.length)
    if (runs.length === 1) await pause(20)
    if (runs.length === 1) throw new Error('refused')
    for (const { resolve, number } of items) resolve(number)
  }, { deadlineMs: 5000, maxWaiting: 250 })
  const all = (from: number, count: number) => Array.from({ length: count }, async (_, index) => (
    await new Promise<number>((resolve, reject) => { ask({ resolve, reject, number: from + index }) })
  ))
  const early = Promise.allSettled(all(0, 251))
  await until(() => runs.length === 1, 'the first run')
  t.strictSame(await Promise.all(all(300, 3)), [300, 301, 302])
  const reasons = (await early).map((result) => result.status === 'rejected' ? result.reason.message : '')
  t.strictSame(reasons, [
    ...Array(100).fill('refused'), ...Array(150).fill(''), '250 writes wait for PostgreSQL'
  ])
  t.strictSame(runs, [100, 100, 53])
})

t.test('a statement has a bounded number of bytes, or one item', async (t) => {
  const runs: number[][] = []
  const ask = gatherInOrder<Waiter<void> & { readonly bytes: number }>(async (items) => {
    runs.push(items.map(({ bytes }) => bytes))
    for (const { resolve } of items) resolve()
  }, { deadlineMs: 5000, bytesOf: ({ bytes }) => bytes })
  const sizes = [100_000, 100_000, 100_000, 5_000_000, 1, 200_000, 62_143]
  await Promise.all(sizes.map(async (bytes) => (
    await new Promise<void>((resolve, reject) => { ask({ resolve, reject, bytes }) })
  )))
  t.strictSame(runs, [[100_000, 100_000], [100_000], [5_000_000], [1, 200_000, 62_143]])
})

t.test('what waits longer than the deadline rejects, and is not run', async (t) => {
  const runs: number[] = []
  const ask = gatherInOrder<Waiter<void>>(async (items) => {
    runs.push(items.length)
    await pause(1500)
    throw new Error('the statement has failed')
  }, { deadlineMs: 500 })
  const begunAt = performance.now()
  const all = Array.from({ length: 150 }, async () => (
    await new Promise<void>((resolve, reject) => { ask({ resolve, reject }) })
  ))
  t.ok((await Promise.allSettled(all.slice(100))).every(({ status }) => status === 'rejected'))
  t.ok(performance.now() - begunAt < 1400)
  await t.rejects(Promise.all(all.slice(0, 100)), { message: 'the statement has failed' })
  t.strictSame(runs, [100])
})

t.test('what is asked for again comes after all that wait, and keeps its own time', async (t) => {
  const runs: string[][] = []
  let again = () => {}
  const ask = gatherInOrder<Waiter<void> & { readonly name: string }>(async (items, waitedMs) => {
    runs.push(items.map(({ name }) => name))
    if (runs.length === 1) again()
    else if (runs.length === 3) t.ok(waitedMs >= 20_000, `${waitedMs} ms`)
    await pause(1)
    for (const { resolve } of items) resolve()
  }, { deadlineMs: 60_000, bytesOf: () => 200_000 })
  const add = async (name: string, waitedMs = 0) => await new Promise<void>((resolve, reject) => {
    ask({ resolve, reject, name }, performance.now() - waitedMs)
  })
  const all = [add('first'), add('second')]
  const answered = new Promise<void>((resolve, reject) => {
    again = () => { add('held', 20_000).then(resolve, reject) }
  })
  await Promise.all([...all, answered])
  t.strictSame(runs, [['first'], ['second'], ['held']])
  await t.rejects(add('late', 60_000), { message: 'PostgreSQL did not answer within 60000 ms' })
})
