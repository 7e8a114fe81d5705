// Starts a PostgreSQL for the benchmark with its own settings. Each commit is written to the disk before it
// is acknowledged.

import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../servers/free-port.mjs'
import { startProcess } from '../servers/processes.mjs'
import { workspacePath } from '../workspace.mjs'

const run = promisify(execFile)

/** Where Debian's packages have the server. It is not on the PATH. */
const VERSIONS = '/usr/lib/postgresql'

export const NO_POSTGRES = 'there is no PostgreSQL server here'

/**
 * @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> } | undefined>} `undefined` if
 * PostgreSQL is not installed
 */
export async function startPostgres () {
  const programs = await findPrograms()
  if (programs === undefined) return undefined
  const folder = workspacePath('postgres')
  await mkdir(folder, { recursive: true })
  const user = await serverUser()
  if (user !== undefined) await letIn(folder, user)
  await run(join(programs, 'initdb'), ['-D', folder, '-U', 'trivet', '-A', 'trust', '-E', 'UTF8'], user)
  const port = String(await findFreePort())
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { pid, stop } = await startProcess(join(programs, 'postgres'), ['-D', folder, ...args], {
    until: /ready to accept connections/, user
  })
  return { url: `postgres://trivet@127.0.0.1:${port}/postgres`, pid, stop }
}

async function findPrograms () {
  const versions = await readdir(VERSIONS).catch(() => [])
  const [latest] = versions.sort((a, b) => Number(b) - Number(a))
  return latest === undefined ? undefined : join(VERSIONS, latest, 'bin')
}

/** Gives the folder to the user, who may pass through the folders above it. */
async function letIn (folder, { uid, gid }) {
  await chown(folder, uid, gid)
  for (const above of [dirname(folder), dirname(dirname(folder))]) await chmod(above, 0o711)
}

/** The server refuses root. */
async function serverUser () {
  if (process.getuid?.() !== 0) return undefined
  const idOf = async (option) => Number((await run('id', [option, 'postgres'])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}
