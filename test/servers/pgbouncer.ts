// A real PgBouncer for one test, in front of a server of PostgreSQL.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { findAccount, type PostgresServer } from './postgres-server.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from './programs.ts'

/** The path on Debian. The PATH of many users does not include it. */
const DEBIAN_PATH = '/usr/sbin/pgbouncer'
const PROGRAM = existsSync(DEBIAN_PATH) ? DEBIAN_PATH : 'pgbouncer'

/** Whether PgBouncer can be started here. See `hasPrograms`. */
export function hasPgbouncer (t: Test): boolean {
  return hasPrograms(t, [PROGRAM], 'pgbouncer')
}

/** Resolves to the URL of the pooler. @param settings lines of its file. */
export async function startPgbouncer (
  t: Test, server: PostgresServer, mode: 'transaction' | 'session', settings: readonly string[] = []
): Promise<string> {
  const port = await findFreePort()
  const folder = await makeFolder(t)
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')]
  await writeFile(users, '"postgres" ""\n')
  await writeFile(file, [
    '[databases]', `* = host=127.0.0.1 port=${server.port}`, '[pgbouncer]', 'listen_addr = 127.0.0.1',
    `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = trust', `auth_file = ${users}`,
    `pool_mode = ${mode}`, 'default_pool_size = 3', 'max_client_conn = 200', ...settings, ''
  ].join('\n'))
  await chmod(folder, 0o755)
  const child = spawn(PROGRAM, [file], { ...findAccount(), cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await within(exited, 'the end of PgBouncer')
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed += text })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${printed}`)
    const client = new Client({ connectionString: url })
    client.on('error', () => {})
    return await client.connect().then(async () => {
      await client.end()
      return true
    }, () => false)
  }, 'PgBouncer', 10_000)
  return url
}
