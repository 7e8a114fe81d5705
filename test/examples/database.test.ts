// The example of a database: its own tests, and its service with a real PostgreSQL.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { migrate } from '../../examples/database/catalog/lib/migrations.ts'
import { runService, startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { hasPrograms } from '../servers/programs.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/database', import.meta.url))
const CATALOG = join(EXAMPLE, 'catalog')
const PATH = process.env.PATH ?? ''
const run = promisify(execFile)

/** Starts a server with the roles of roles.sql, by the command of README.md. Resolves to their URLs. */
async function startDatabase (t: Test) {
  const { url, sql } = await startPostgresServer(t)
  await run('psql', ['--set', 'ON_ERROR_STOP=1', '--file', join(EXAMPLE, 'roles.sql'), url], {
    env: { PATH, READER_PASSWORD: "it's read", WRITER_PASSWORD: 'write' }
  })
  const urlOf = (role: string) => url.replace('postgres@', `${role}@`)
  return { reader: urlOf('customers_reader'), writer: urlOf('customers_writer'), sql }
}

t.test('the image has the release of the driver that is tested here', async (t) => {
  const text = await readFile(join(EXAMPLE, 'Dockerfile'), 'utf8')
  const { version } = JSON.parse(await readFile(join(EXAMPLE, '../../node_modules/pg/package.json'), 'utf8'))
  t.equal(/npm install .*\bpg@(\S+)/.exec(text)?.[1], version)
})

const hasAll = hasPostgresServer(t) && hasPrograms(t, ['psql'], 'postgresql-client')

t.test('with a database', { skip: !hasAll }, async (t) => {
  t.test('its own tests pass, and none is skipped', async (t) => {
    const { reader, writer } = await startDatabase(t)
    const env = { PATH, TEST_DATABASE_URL: reader, TEST_DATABASE_WRITER_URL: writer }
    const ran = run(
      process.execPath, ['--test', '--test-reporter=tap'], { cwd: EXAMPLE, env, timeout: 120_000 }
    )
    const { stdout, stderr } = await ran.catch((error: { stdout: string, stderr: string }) => error)
    t.match(stdout, /^# pass [1-9]/m)
    t.match(stdout, /^# fail 0$/m, stdout + stderr)
    t.match(stdout, /^# skipped 0$/m)
  })

  t.test('twenty replicas migrate an empty database at once, each table once', async (t) => {
    const { writer, sql } = await startDatabase(t)
    const pools = Array.from({ length: 20 }, () => new Pool({ connectionString: writer, max: 1 }))
    t.teardown(async () => await Promise.all(pools.map(async (pool) => await pool.end())))
    await t.resolves(Promise.all(pools.map(async (pool) => await migrate(pool))))
    t.strictSame(await sql('select number from customers.migrations order by number'), [[0], [1], [2]])
    const locks = await sql("select count(*) from pg_locks where locktype = 'advisory'")
    t.strictSame(locks, [['0']], 'the lock is free')
  })

  t.test('a migration that fails leaves nothing, and the next start does all of it', async (t) => {
    const { writer, sql } = await startDatabase(t)
    const pool = new Pool({ connectionString: writer, max: 1 })
    t.teardown(async () => await pool.end())
    await sql('create view customers.customers as select 1')
    await t.rejects(migrate(pool), /"customers" already exists/)
    await sql('drop view customers.customers')
    t.strictSame(await sql("select tablename from pg_tables where schemaname = 'customers'"), [])
    await migrate(pool)
    t.strictSame(await sql('select count(*) from customers.migrations'), [['3']])
  })

  t.test('two replicas start at once on an empty database, and each sees what the other adds', async (t) => {
    const { reader, writer } = await startDatabase(t)
    const settings = {
      TRIVET_CATALOG: CATALOG, TRIVET_WATCH: 'off', DATABASE_URL: reader, DATABASE_WRITER_URL: writer
    }
    const [one, other] = await Promise.all([startService(t, settings), startService(t, settings)])
    const call = async (url: string, name: string, args: object) => {
      const params = { name, arguments: args }
      const { messages: [answer] } = await post(t, url, { method: 'tools/call', params })
      return answer?.result
    }
    const added = await call(one.url, 'add_customer', { name: 'Ada Lovelace', city: 'London' })
    t.match(added, { structuredContent: { customer: { id: '1', name: 'Ada Lovelace', version: 1 } } })
    t.match(await call(other.url, 'search_customers', { name: 'love' }), {
      structuredContent: { customers: [{ id: '1', city: 'London' }], hasMore: false }
    })
    for (const { url } of [one, other]) t.equal((await fetch(new URL('/readyz', url))).status, 200)
  })

  t.test('npx trivet check has no problem and no advice', async (t) => {
    const urls = { DATABASE_URL: 'postgres://reader@db/a', DATABASE_WRITER_URL: 'postgres://writer@db/a' }
    const { code, stdout } = await runService(urls, { args: ['check', CATALOG] })
    t.equal(code, 0)
    t.match(stdout, /^0 problems, 0 pieces of advice$/m, stdout)
    t.match(stdout, /^setting DATABASE_WRITER_URL: required, secret, set\. /m)
    t.notMatch(stdout, 'advice:')
  })
})
