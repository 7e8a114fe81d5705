// Passwords in a file, which may change while the service runs.

import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readPassFile } from '../../../../../../src/platform/store/backends/postgres/connections/pass-file.ts'
import { makeFolder } from '../../../../../helpers/folder.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../../servers/postgres-server.ts'
import { openStore } from '../connect.ts'

const HOST = { host: 'db', port: 5432 }
const USER = { database: 'trivet', user: 'ada' }

t.test('the first line that fits has the password', async (t) => {
  const file = join(await makeFolder(t), 'pgpass')
  const lines: ReadonlyArray<readonly [text: string, password: string]> = [
    ['db:5432:trivet:ada:secret', 'secret'],
    ['*:*:*:*:secret', 'secret'],
    ['# db:5432:trivet:ada:old\nother:5432:trivet:ada:no\ndb:*:trivet:ada:yes\n*:*:*:*:late', 'yes'],
    ['db:5432:trivet:ada:a:b\\:c\\\\d', 'a:b:c\\d'],
    ['db:5432:trivet:ada:secret\r\n', 'secret'],
    ['db:5432:trivet:ada:', '']
  ]
  for (const [text, password] of lines) {
    await writeFile(file, text)
    t.equal(await readPassFile(file, HOST, USER), password, text)
  }
  await writeFile(file, 'd\\:b:5432:tri\\\\vet:ada:odd\nlocalhost:5432:*:*:socket')
  t.equal(await readPassFile(file, { ...HOST, host: 'd:b' }, { ...USER, database: 'tri\\vet' }), 'odd')
  t.equal(await readPassFile(file, { ...HOST, host: '/run/postgresql' }, USER), 'socket')
})

t.test('a file without such a line, and no file, are errors without a password', async (t) => {
  const file = join(await makeFolder(t), 'pgpass')
  await t.rejects(readPassFile(file, HOST, USER), { message: `the file of passfile, ${file}, cannot be read (ENOENT)` })
  await writeFile(file, 'db:5432:trivet:bob:hunter2\ndb:5432:trivet:ada')
  const message = `no line of the file of passfile, ${file}, is for db:5432:trivet:ada`
  await t.rejects(readPassFile(file, HOST, USER), { message })
  await rm(file)
  execFileSync('mkfifo', [file])
  await t.rejects(readPassFile(file, HOST, USER), { message: /cannot be read \(expected a file, got a named pipe\)$/ })
})

if (hasPostgresServer(t)) {
  t.test('a changed password counts for the next connection', async (t) => {
    const server = await startPostgresServer(t, { access: ['host all ada 127.0.0.1/32 scram-sha-256'] })
    await server.sql("CREATE ROLE ada LOGIN PASSWORD 'first'; GRANT CREATE ON DATABASE postgres TO ada")
    const file = join(await makeFolder(t), 'pgpass')
    await writeFile(file, '*:*:*:ada:first')
    const store = await openStore(t, `postgres://ada@127.0.0.1:${server.port}/postgres?passfile=${file}`)
    await store.check()
    await server.sql("ALTER ROLE ada PASSWORD 'second'")
    await writeFile(file, '*:*:*:ada:second')
    await server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ada'")
    const end = performance.now() + 10_000
    while (!await store.check().then(() => true, () => false)) {
      if (performance.now() > end) throw new Error('the store did not come back')
    }
    t.pass('it came back with the new password')
  })
}
