// Removes what has expired.

import t from 'tap'
import { openPostgresStateStore } from '../../../../src/store/backends/postgres/state-store.ts'
import { createSweep } from '../../../../src/store/backends/postgres/sweep.ts'
import { toValue } from '../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

const KEY = { owner: 'o', name: 'counter' }

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  t.test('10,000 expired records are removed, in small batches, and live ones stay', {
    timeout: 60_000
  }, async (t) => {
    const { pool, names, errors } = await openPool(t, server.url, 'swept')
    const store = openPostgresStateStore(pool, names)
    const live = await store.create(KEY, toValue('0'), { idleMs: 600_000 }, 10)
    await server.sql(`INSERT INTO swept.records SELECT 'o', 'n' || i, '', 'v', 1, NULL, 1, 1
      FROM generate_series(1, 10000) AS i`)
    await server.sql("UPDATE swept.records SET sweep_at = 1 WHERE name = 'counter'")
    const sweeps = [1, 2].map(() => createSweep(pool, names, { onError: t.error }))
    t.teardown(async () => await Promise.all(sweeps.map(async (one) => await one.close())))
    await Promise.all(sweeps.map(async (one) => await one.sweep()))
    await sweeps[0]?.sweep()
    t.strictSame(await server.sql('SELECT name FROM swept.records'), [['counter']])
    t.strictSame(await server.sql('SELECT sweep_at = expires_at FROM swept.records'), [[true]])
    t.match(await store.read(KEY), live)
    t.strictSame(errors, [])
  })
}
