// Creations of one owner share statements, and nothing else.

import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { timers } from '../../../../../src/base/time.ts'
import { createCreations } from '../../../../../src/platform/store/backends/postgres/creations.ts'
import {
  createRecordStatements
} from '../../../../../src/platform/store/backends/postgres/record-statements.ts'
import { toNames } from '../../../../../src/platform/store/backends/postgres/schema/schema.ts'
import { NAME_HELD } from '../../../../../src/platform/store/backends/postgres/schema/schema-functions.ts'
import type { StatementRunner } from '../../../../../src/platform/store/backends/postgres/statement.ts'
import { openPostgresStateStore } from '../../../../../src/platform/store/backends/postgres/state-store.ts'
import { toValue } from '../../../../helpers/state-value.ts'
import { VirtualTime } from '../../../../helpers/virtual-time.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

const LIFETIME = { idleMs: 600_000 }

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  /** Also returns how many statements were run, and the most that ran at once. */
  async function openCounted (t: Parameters<typeof openPool>[0], prefix: string) {
    const { pool, names } = await openPool(t, server.url, prefix)
    const counts = { run: 0, most: 0 }
    let running = 0
    const runner: StatementRunner = {
      async run (...statement) {
        counts.run++
        counts.most = Math.max(counts.most, ++running)
        return await pool.run(...statement).finally(() => { running-- })
      }
    }
    const store = openPostgresStateStore(runner, names)
    t.teardown(async () => await store.close())
    const create = async (owner: string, name: string, limit = 10_000) => (
      await store.create({ owner, name }, toValue(name), LIFETIME, limit)
    )
    return { store, counts, create }
  }

  t.test('a thousand at once of one owner take one connection and few statements', async (t) => {
    const { counts, create } = await openCounted(t, 'one')
    const made = await Promise.all(Array.from({ length: 1000 }, async (_, index) => (
      await create('o', `n${index}`, 900)
    )))
    t.equal(made.filter((record) => record === 'full').length, 100)
    t.strictSame(counts, { run: 10, most: 1 })
  })

  t.test('owners do not wait for each other', async (t) => {
    const { counts, create } = await openCounted(t, 'owners')
    await Promise.all(Array.from({ length: 5 }, async (_, index) => await create(`o${index}`, 'n')))
    t.strictSame(counts, { run: 5, most: 5 })
    t.equal(await create('o1', 'n'), 'taken', 'and later ones of an owner see the earlier ones')
  })

  t.test('a mistake in one of them is an error of that one alone', async (t) => {
    const { create } = await openCounted(t, 'mistaken')
    // Random: PostgreSQL compresses what it stores.
    const tooLong = randomBytes(6000).toString('hex')
    const made = await Promise.allSettled(['a', tooLong, 'b', tooLong].map(async (name) => (
      await create('o', name)
    )))
    t.strictSame(made.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    for (const result of made) {
      if (result.status === 'rejected') t.equal(result.reason.code, '54000')
    }
  })

  t.test('an expired record that somebody holds delays its own name alone', async (t) => {
    const { store, create } = await openCounted(t, 'held')
    for (const name of ['x', 'y']) await store.create({ owner: 'o', name }, toValue('x'), { idleMs: 1 }, 100)
    await pause(50)
    const client = new Client({ connectionString: server.url })
    await client.connect()
    t.teardown(async () => await client.end())
    await client.query("BEGIN; SELECT FROM held.records WHERE name IN ('x', 'y') FOR UPDATE")
    const held = create('o', 'x')
    held.catch(() => {})
    const begunAt = performance.now()
    const others = await Promise.all(Array.from({ length: 50 }, async (_, index) => (
      await create('o', `n${index}`)
    )))
    t.equal(others.filter((record) => typeof record === 'object').length, 50)
    t.ok(performance.now() - begunAt < 500, `${performance.now() - begunAt} ms`)
    await t.rejects(held, { name: 'StoreUnavailable', cause: { message: /somebody held a record/ } })
    t.ok(performance.now() - begunAt < 2000)
    const late = create('o', 'y')
    await pause(100)
    await client.query('ROLLBACK')
    t.type(await late, 'object', 'and a short hold does no harm')
  })

  t.test('a lost connection is an outage of one statement', async (t) => {
    const { create } = await openCounted(t, 'lost')
    await create('o', 'first')
    const creating = Promise.allSettled(Array.from({ length: 1000 }, async (_, index) => (
      await create('o', `n${index}`)
    )))
    await server.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trivet'"
    )
    const rejected = (await creating).filter(({ status }) => status === 'rejected')
    // Each idle connection is lost too, and may be taken before the loss is known.
    t.ok(rejected.length <= 200, `${rejected.length} of 1,000`)
  })

  t.test('a creation without an answer, and a statement after it, take less than two seconds', async (t) => {
    const hanging = await startPostgresServer(t)
    const times: number[] = []
    // A busy machine adds to the time: one attempt in three must show that of the timeouts.
    while (times.length < 3 && (times.at(-1) ?? Infinity) >= 2000) times.push(await refuseAll(t, hanging))
    t.ok((times.at(-1) ?? Infinity) < 2000, `${times.join(', ')} ms`)
  })

  /** Resolves to the time, in milliseconds. */
  async function refuseAll (t: Test, hanging: PostgresServer): Promise<number> {
    const { pool, names } = await openPool(t, hanging.url)
    const store = openPostgresStateStore(pool, names)
    await store.create({ owner: 'o', name: 'n' }, toValue('x'), LIFETIME, 10_000)
    hanging.freeze()
    const begunAt = performance.now()
    const outcomes = await Promise.all(Array.from({ length: 300 }, async (_, index) => {
      const key = { owner: 'o', name: `n${index}` }
      const created = await store.create(key, toValue('x'), LIFETIME, 10_000).catch((error: unknown) => error)
      return [created, await store.delete(key).catch((error: unknown) => error)]
    }))
    // Assertions take longer than what they look at: none is within the time.
    const ms = performance.now() - begunAt
    for (const outcome of outcomes.flat()) t.match(outcome, { name: 'StoreUnavailable' })
    hanging.thaw()
    await store.close()
    return ms
  }

  t.test('the creations that wait are bounded, over all owners', async (t) => {
    const hanging = await startPostgresServer(t)
    const { pool, names } = await openPool(t, hanging.url)
    const store = openPostgresStateStore(pool, names)
    hanging.freeze()
    const all = await Promise.allSettled(Array.from({ length: 5100 }, async (_, index) => (
      await store.create({ owner: `o${index % 3}`, name: `n${index}` }, toValue('x'), LIFETIME, 10_000)
    )))
    const refused = all.filter((result) => (
      result.status === 'rejected' && /5000 creations wait/.test(result.reason.cause.message)
    ))
    t.equal(refused.length, 100)
    hanging.thaw()
    await store.close()
  })
}

t.test('names that somebody holds are tried again after the creations that wait', async (t) => {
  const time = new VirtualTime(t)
  const runner: StatementRunner = {
    async run (_, [, names] = []) {
      await timers.pause(20)
      return [names].flat().map((name) => [String(name).startsWith('held') ? NAME_HELD : 1])
    }
  }
  const { create } = createCreations(runner, createRecordStatements(toNames('trivet')))
  const createAll = async (kind: string, count: number) => await Promise.allSettled(
    Array.from({ length: count }, async (_, index) => (
      await create({ owner: 'o', name: `${kind}${index}` }, toValue('x'), LIFETIME, 10_000)
    ))
  )
  const held = createAll('held', 300)
  await time.during(timers.pause(40), 40)
  const free = await time.during(createAll('free', 10), 200)
  t.ok(free.every(({ status }) => status === 'fulfilled'))
  for (const result of await time.during(held, 2000)) {
    t.match(result, { reason: { message: 'somebody held a record for 1000 ms' } })
  }
})
