// The schema: made once by replicas that start together, by roles with few rights, and across releases.

import { Client } from 'pg'
import t, { type Test } from 'tap'
import {
  readPostgresUrl
} from '../../../../../../src/platform/store/backends/postgres/connections/address.ts'
import {
  connect, createTarget
} from '../../../../../../src/platform/store/backends/postgres/connections/connection.ts'
import {
  findRisk, prepareSchema
} from '../../../../../../src/platform/store/backends/postgres/schema/migrations.ts'
import { toColumns, toNames } from '../../../../../../src/platform/store/backends/postgres/schema/schema.ts'
import { messageOf } from '../../../../../../src/base/words.ts'
import { openBackend, writeSchema } from '../../../../../../src/platform/store/backends/url-schemes.ts'
import { toValue } from '../../../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../../servers/postgres-server.ts'
import { openPool, openStore } from '../connect.ts'

const LIFETIME = { idleMs: 600_000 }

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  const urlOf = (role: string) => server.url.replace('//postgres@', `//${role}@`)

  async function isUsed (t: Test, url: string, prefix: string): Promise<void> {
    const store = await openStore(t, url, prefix)
    const record = await store.create({ owner: 'o', name: 'n' }, toValue('x'), LIFETIME, 10)
    t.type(record, 'object', 'and is used')
  }

  t.test('eight replicas that start together make it once', async (t) => {
    await Promise.all(Array.from({ length: 8 }, async () => await openPool(t, server.url, 'many')))
    t.strictSame(await server.sql('SELECT version, oldest_user FROM many.versions'), [[1, 1]])
    await isUsed(t, server.url, 'many')
  })

  t.test('any prefix is a schema of its own', async (t) => {
    for (const prefix of ['A', 'a', 'a.b', '0-_', 'select', 'x'.repeat(63)]) {
      await isUsed(t, server.url, prefix)
      t.strictSame(await server.sql(`SELECT count(*)::int FROM "${prefix}".records`), [[1]], prefix)
    }
    for (const prefix of ['x'.repeat(64), 'pg_x', 'public']) {
      await t.rejects(openPool(t, server.url, prefix), { message: /^TRIVET_STATE_PREFIX names a schema/ })
    }
  })

  t.test('a role that may not create it is told what to do, and then uses it', async (t) => {
    await server.sql('CREATE ROLE plain LOGIN')
    const refusal = openPool(t, urlOf('plain'), 'given')
    await t.rejects(refusal, {
      message: /^TRIVET_STATE_URL: the role plain lacks .*"npx trivet state schema --prefix given --role plain"/
    })
    await server.sql(await writeSchema('given', 'plain'))
    await isUsed(t, urlOf('plain'), 'given')
  })

  t.test('each right that is missing is named', async (t) => {
    await server.sql('CREATE ROLE poor LOGIN')
    await server.sql(await writeSchema('partly', 'poor'))
    await server.sql(`REVOKE UPDATE ON partly.records FROM poor; REVOKE SELECT ON partly.events FROM poor;
      REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA partly FROM poor, public`)
    const refusal = await openPool(t, urlOf('poor'), 'partly').catch(String)
    for (const part of [
      'UPDATE on "partly".records', 'SELECT on "partly".events', 'EXECUTE on partly.create_records_1',
      'Run "npx trivet state schema --prefix partly --role poor"'
    ]) t.match(refusal, part)
    t.notMatch(refusal, 'DELETE', 'and no other')
    await server.sql('REVOKE USAGE ON SCHEMA partly FROM poor')
    await t.rejects(openPool(t, urlOf('poor'), 'partly'), { message: /lacks rights/ })
  })

  t.test('a schema of a later release is used if that says so, and refused if not', async (t) => {
    await isUsed(t, server.url, 'later')
    await server.sql('INSERT INTO later.versions VALUES (2, 1)')
    await openPool(t, server.url, 'later')
    t.equal((await server.sql('SELECT FROM later.versions')).length, 2, 'it is not changed')
    await server.sql('INSERT INTO later.versions VALUES (3, 2)')
    await t.rejects(openPool(t, server.url, 'later'), {
      message: /schema later has version 3, made by a later release; this release knows version 1\. Run a release/
    })
  })

  t.test('a schema whose making was interrupted is made anew', async (t) => {
    const client = new Client({ connectionString: server.url })
    await client.connect()
    await client.query('BEGIN; CREATE SCHEMA broken; CREATE TABLE broken.versions (version integer)')
    await client.end()
    await isUsed(t, server.url, 'broken')
    await server.sql('CREATE SCHEMA empty')
    await isUsed(t, server.url, 'empty')
  })

  t.test('the printed SQL does not wait for a transaction that writes records', async (t) => {
    const sql = await writeSchema('held')
    await server.sql(sql)
    const client = new Client({ connectionString: server.url })
    await client.connect()
    t.teardown(async () => await client.end())
    await client.query("BEGIN; INSERT INTO held.records VALUES ('o', 'n', '', '1', 1, NULL, 1, 1)")
    const begunAt = performance.now()
    await server.sql(sql)
    t.ok(performance.now() - begunAt < 1000, `${performance.now() - begunAt} ms`)
    await client.query('LOCK TABLE held.versions')
    await t.rejects(server.sql(sql), { message: /lock timeout/ }, 'and waits for nothing long')
  })

  t.test('the printed SQL can be applied by many at once', async (t) => {
    for (let round = 0; round < 5; round++) {
      const sql = await writeSchema(`at-once-${round}`)
      await Promise.all([1, 2, 3].map(async () => await server.sql(sql)))
      t.strictSame(await server.sql(`SELECT version FROM "at-once-${round}".versions`), [[1]])
    }
  })

  t.test('a role that owns its empty schema makes the rest', async (t) => {
    await server.sql('CREATE ROLE owning LOGIN; CREATE SCHEMA owned AUTHORIZATION owning')
    await isUsed(t, urlOf('owning'), 'owned')
  })

  t.test('a schema that is not complete, or not of the service, is refused with what to do', async (t) => {
    const harms = [
      ['ALTER TABLE harmed.records DROP COLUMN sweep_at', /"harmed".records \(sweep_at\)/],
      ['DROP TABLE harmed.messages', /"harmed".messages \(id\)/],
      ['DROP FUNCTION harmed.create_records_1', /"harmed".create_records_1\(text,/],
      ['DROP TABLE harmed.versions, harmed.records; CREATE TABLE harmed.records (id int)', /"sweep_at" does not/]
    ] as const
    for (const [harm, missing] of harms) {
      await server.sql(`${await writeSchema('harmed')}; ${harm}`)
      const message = await openPool(t, server.url, 'harmed').then(() => 'opened', messageOf)
      t.match(message, /^TRIVET_STATE_URL: the schema harmed is not complete, .*Set TRIVET_STATE_PREFIX/, harm)
      t.match(message, missing)
      await server.sql('DROP SCHEMA harmed CASCADE')
    }
  })

  t.test('the start looks for all columns that there are', async (t) => {
    const { names } = await openPool(t, server.url, 'columns')
    const columns = await server.sql(`SELECT '"columns".' || table_name, column_name
      FROM information_schema.columns WHERE table_schema = 'columns' AND column_name <> 'made_at'`)
    const known = [...toColumns(names)].flatMap(([table, all]) => all.map((column) => `${table}.${column}`))
    t.strictSame(known.toSorted(), columns.map((column) => column.join('.')).toSorted())
  })

  t.test('a migration that another one disturbs is tried again', async (t) => {
    await server.sql(`
      CREATE SEQUENCE tries;
      CREATE FUNCTION disturb () RETURNS event_trigger LANGUAGE plpgsql AS $body$ DECLARE
        try integer;
      BEGIN
        IF current_setting('application_name') <> 'trivet' THEN RETURN; END IF;
        try := nextval('public.tries');
        IF try = 1 THEN RAISE EXCEPTION 'a' USING ERRCODE = '23505'; END IF;
        IF try = 2 THEN RAISE EXCEPTION 'a' USING ERRCODE = '42P07'; END IF;
        IF try = 3 THEN RAISE EXCEPTION 'a' USING ERRCODE = '55P03'; END IF;
        IF try = 4 THEN RAISE EXCEPTION 'a' USING ERRCODE = 'XX000'; END IF;
        IF try = 5 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      END $body$;
      CREATE EVENT TRIGGER disturb ON ddl_command_start EXECUTE FUNCTION disturb()`)
    t.teardown(async () => await server.sql('DROP EVENT TRIGGER disturb'))
    const backend = await openBackend(server.url, { prefix: 'disturbed', log: { warn () {} } })
    await backend.close()
    t.ok(Number((await server.sql('SELECT last_value FROM tries'))[0]?.[0]) > 5)
    t.strictSame(await server.sql('SELECT version FROM disturbed.versions'), [[1]])
  })

  t.test('a lost connection does not hide what failed', async (t) => {
    const { target } = await openPool(t, server.url, 'lost')
    const connection = await connect(target)
    const runText = connection.runText.bind(connection)
    Object.assign(connection, {
      async runText (text: string) {
        if (text === 'ROLLBACK') throw new Error('the connection is lost')
        return await runText(text.includes('CREATE TABLE') ? 'SELECT 1/0' : text)
      }
    })
    const failing = prepareSchema(connection, toNames('never'))
    await t.rejects(failing, { message: /^TRIVET_STATE_URL: the schema never cannot be made .*by zero/ })
    await connection.close()
  })

  t.test('commits that do not wait for the standby are named, if the server has one', async (t) => {
    const paired = await startPostgresServer(t, { settings: ["synchronous_standby_names = 'a'"] })
    const risksOf = async ({ url }: typeof server) => {
      const connection = await connect(createTarget(readPostgresUrl(url), undefined, () => {}))
      t.teardown(async () => await connection.close())
      const risks = []
      for (const commit of ['on', 'remote_apply', 'remote_write', 'local', 'off']) {
        await connection.runText(`SET synchronous_commit = ${commit}`)
        if (await findRisk(connection) !== undefined) risks.push(commit)
      }
      return risks
    }
    t.strictSame(await risksOf(server), ['off'])
    t.strictSame(await risksOf(paired), ['remote_write', 'local', 'off'])
  })

  t.test('a database with another encoding is refused', async (t) => {
    await server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    const url = server.url.replace(/\/postgres$/, '/latin')
    await t.rejects(openPool(t, url), { message: /has the encoding LATIN1. Create one with the encoding UTF8/ })
  })

  t.test('the isolation that a role sets for itself changes no limit', async (t) => {
    await server.sql(`CREATE ROLE strict LOGIN SUPERUSER;
      ALTER ROLE strict SET default_transaction_isolation = 'serializable'`)
    const store = await openStore(t, urlOf('strict'), 'strict')
    const made = await Promise.all(Array.from({ length: 50 }, async (_, index) => (
      await store.create({ owner: 'o', name: `n${index}` }, toValue('x'), LIFETIME, 10)
    )))
    t.equal(made.filter((record) => record === 'full').length, 40)
  })
}
