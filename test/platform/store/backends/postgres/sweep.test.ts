// Removes what has expired.

import t from 'tap'
import { openPostgresStateStore } from '../../../../../src/platform/store/backends/postgres/state-store.ts'
import { createSweep } from '../../../../../src/platform/store/backends/postgres/sweep.ts'
import { toValue } from '../../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../servers/postgres-server.ts'
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
  t.test('rows that take too long are removed in smaller batches', async (t) => {
    const { pool, names } = await openPool(t, server.url, 'slow')
    await server.sql(`
      INSERT INTO slow.records SELECT 'o', 'n' || i, '', 'v', 1, NULL, 1, 1 FROM generate_series(1, 20) AS i;
      CREATE FUNCTION slow.limit_rows () RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
        IF (SELECT count(*) FROM gone) > 3 THEN RAISE EXCEPTION 'too slow' USING ERRCODE = '57014'; END IF;
        RETURN NULL;
      END $body$;
      CREATE TRIGGER limit_rows AFTER DELETE ON slow.records REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION slow.limit_rows()`)
    const sweep = createSweep(pool, names, { onError: t.error })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.strictSame(await server.sql('SELECT name FROM slow.records'), [])
  })

  t.test('a table that cannot be swept does not stop the others', async (t) => {
    const { pool, names } = await openPool(t, server.url, 'stuck')
    await server.sql(`
      INSERT INTO stuck.records VALUES ('o', 'n', '', 'v', 1, NULL, 1, 1);
      INSERT INTO stuck.calls VALUES ('key', '{}', '{}', 1);
      CREATE FUNCTION stuck.refuse () RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
        RAISE EXCEPTION 'too slow' USING ERRCODE = '57014';
      END $body$;
      CREATE TRIGGER refuse BEFORE DELETE ON stuck.records FOR EACH ROW EXECUTE FUNCTION stuck.refuse()`)
    const errors: unknown[] = []
    const sweep = createSweep(pool, names, { onError: (error) => errors.push(error) })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.match(errors, [{ code: '57014' }])
    t.equal(errors.length, 1)
    t.strictSame(await server.sql('SELECT key FROM stuck.calls'), [])
  })
}
