// Creations of one owner share statements, and nothing else.

import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Statement, StatementRunner } from '../../../../src/store/backends/postgres/statement.ts'
import { openPostgresStateStore } from '../../../../src/store/backends/postgres/state-store.ts'
import { toValue } from '../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
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
      async run (statement: Statement, values: unknown[]) {
        counts.run++
        counts.most = Math.max(counts.most, ++running)
        return await pool.run(statement, values).finally(() => { running-- })
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
}
