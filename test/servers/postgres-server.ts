// Real PostgreSQL servers for tests, on free ports of the loopback interface: one alone, or with a standby.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { appendFile, chmod, chown, mkdtemp, rename, rm, statfs, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { isComplete } from './programs.ts'

const runProgram = promisify(execFile)

export interface PostgresServer {
  readonly port: number
  readonly url: string
  readonly folder: string
  /** Runs SQL as the superuser, and resolves to the rows of the last statement. */
  sql (text: string): Promise<unknown[][]>
  /** Ends the server as a crash would. */
  kill (): Promise<void>
  /** Ends the server in order: all is kept. Its clients lose their connections. */
  stop (): Promise<void>
  /** Starts the server again on its port, with the data that it kept. */
  restart (): Promise<void>
  /** The server keeps its connections and does not answer, until `thaw` is called. */
  freeze (): void
  thaw (): void
  /** Starts a standby that streams from this server. */
  startStandby (): Promise<PostgresServer>
}

export interface PostgresServerOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[]
  /** Lines of pg_hba.conf, in place of those that trust everybody. */
  readonly access?: readonly string[]
  /** A folder whose files are copied to those of the server, which then owns them. */
  readonly certificates?: string
  /** Whether the server flushes what it commits to the disk. */
  readonly isDurable?: boolean
  /** Where it keeps its files. A new folder by default. */
  readonly folder?: string
  /** Whether the folder has the files of a server that has ended with its machine. */
  readonly isKept?: boolean
  /** Whether its write-ahead log is in another folder: without room for the log the server ends. */
  readonly hasLogElsewhere?: boolean
}

/** Debian keeps the programs of each version apart. */
const DEBIAN = '/usr/lib/postgresql'
const DEFAULTS = [
  "listen_addresses = '127.0.0.1'", 'shared_buffers = 16MB', 'max_connections = 60',
  'autovacuum_naptime = 5s', 'min_wal_size = 2MB', 'max_wal_size = 16MB', 'wal_keep_size = 8MB',
  'max_wal_senders = 4'
]
const HASTY = ['fsync = off', 'full_page_writes = off']
const MEMORY = '/dev/shm'
/** Each of the servers that run beside each other takes some 50 MB. */
const MIN_FREE_BYTES = 1e9
interface Account { readonly uid?: number, readonly gid?: number }

/** The server refuses to run as root. */
const isRoot = process.getuid?.() === 0
const account = findAccount()

/** Whether PostgreSQL can be started here. See `isComplete`. */
export function hasPostgresServer (t: Test): boolean {
  const missing = findPrograms() === undefined ? ['postgres'] : []
  return isComplete(t, missing, 'postgresql')
}

/** Starts one server, and stops it when the test ends. */
export async function startPostgresServer (
  t: Test, options: PostgresServerOptions = {}
): Promise<PostgresServer> {
  const { settings = [], access, isDurable = false } = options
  const parent = options.folder ?? await makeFolder(t, isDurable ? undefined : await findHastyFolder())
  await own(parent)
  // The account of the server must reach it.
  if (isRoot && options.folder !== undefined) await chmod(dirname(parent), 0o755)
  const folder = join(parent, 'postgres')
  if (options.isKept === true) await rm(join(folder, 'postmaster.pid'), { force: true })
  else await run('cp', ['-r', await findTemplate(), folder])
  if (options.hasLogElsewhere === true) {
    const log = await makeFolder(t)
    await own(log)
    await run('mv', [join(folder, 'pg_wal'), log])
    await symlink(join(log, 'pg_wal'), join(folder, 'pg_wal'))
  }
  const port = await findFreePort()
  await appendFile(join(folder, 'postgresql.conf'), [
    ...DEFAULTS, ...isDurable ? [] : HASTY, `port = ${port}`, `unix_socket_directories = '${folder}'`,
    ...settings, ''
  ].join('\n'))
  if (access !== undefined) {
    const trusted = 'local all postgres trust\nlocal replication postgres trust\n'
    await run('sh', ['-c', 'printf "%s" "$1" > pg_hba.conf', 'sh', `${trusted}${access.join('\n')}\n`], folder)
  }
  if (options.certificates !== undefined) {
    await run('cp', ['-r', `${options.certificates}/.`, folder])
    // The server refuses keys that others can read.
    await run('sh', ['-c', 'chmod 600 *.key'], folder)
  }
  // What the server has not written itself.
  if (isDurable) await run('sync', ['-f', folder])
  return await launch(t, folder, port)
}

async function launch (t: Test, folder: string, port: number): Promise<PostgresServer> {
  const start = async () => await startProcess(t, folder, port)
  let child = await start()

  async function end (signal: NodeJS.Signals): Promise<void> {
    signalAll(child, 'SIGCONT')
    await endProcess(child, signal)
  }

  return {
    port,
    folder,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    sql: async (text) => await runSql(folder, port, text),
    // At once, without a checkpoint: the next start is a recovery.
    async kill () { await end('SIGQUIT') },
    async stop () { await end('SIGINT') },
    async restart () { child = await start() },
    freeze () { signalAll(child, 'SIGSTOP') },
    thaw () { signalAll(child, 'SIGCONT') },
    async startStandby () {
      const parent = await makeFolder(t)
      await own(parent)
      const copy = join(parent, 'postgres')
      await run(programPath('pg_basebackup'), [
        '-h', folder, '-p', String(port), '-U', 'postgres', '-D', copy, '-R', '-X', 'stream', '-c', 'fast'
      ])
      const standbyPort = await findFreePort()
      await appendFile(join(copy, 'postgresql.conf'), [
        `port = ${standbyPort}`, `unix_socket_directories = '${copy}'`, ''
      ].join('\n'))
      return await launch(t, copy, standbyPort)
    }
  }
}

async function startProcess (t: Test, folder: string, port: number): Promise<ChildProcess> {
  const child = spawn(programPath('postgres'), ['-D', folder], {
    ...account, cwd: folder, stdio: ['ignore', 'ignore', 'pipe']
  })
  t.teardown(async () => {
    signalAll(child, 'SIGCONT')
    await endProcess(child, 'SIGQUIT')
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed = (printed + text).slice(-10_000) })
  await until(async () => {
    const end = child.exitCode ?? child.signalCode
    if (end !== null) throw new Error(`postgres ended with ${end}:\n${printed}`)
    return await runSql(folder, port, 'SELECT 1').then(() => true, () => false)
  }, 'postgres', 30_000)
  return child
}

async function endProcess (child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await within(exited, 'the end of postgres', 20_000)
}

/** Each connection has a process of its own. */
function signalAll ({ pid = 0, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (exitCode !== null || signalCode !== null) return
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  for (const one of [pid, ...children.map(Number)]) {
    try {
      process.kill(one, signal)
    } catch {
      // It has ended.
    }
  }
}

async function runSql (folder: string, port: number, text: string): Promise<unknown[][]> {
  const client = new Client({ host: folder, port, user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  try {
    const results = await client.query<unknown[]>({ text, rowMode: 'array' })
    const last = Array.isArray(results) ? results.at(-1) : results
    return last.rows
  } finally {
    await client.end()
  }
}

/**
 * Finds the place for the files of a server that flushes nothing: memory, if there is room. Most of the CPU
 * of such a server goes into the file system of the disk.
 */
async function findHastyFolder (): Promise<string> {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize > MIN_FREE_BYTES ? MEMORY : tmpdir()
}

/** Initialising a database takes a second, copying one a tenth. */
async function findTemplate (): Promise<string> {
  const user = account.uid ?? process.getuid?.()
  const template = join(tmpdir(), `trivet-postgres-${findPrograms()?.version}-${user}`)
  if (existsSync(template)) return template
  const folder = await mkdtemp(join(tmpdir(), 'trivet-initdb-'))
  await own(folder)
  const made = join(folder, 'template')
  await run(programPath('initdb'), [
    '-D', made, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N', '--wal-segsize=1'
  ])
  // Another process may have been faster.
  await rename(made, template).catch(() => {})
  await rm(folder, { recursive: true, force: true })
  return template
}

async function own (folder: string): Promise<void> {
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid)
  await chmod(folder, 0o755)
}

async function run (program: string, args: readonly string[], cwd = tmpdir()): Promise<void> {
  await runProgram(program, args, { ...account, cwd })
}

/** The account of servers that refuse to run as root. This one, if it is another. */
export function findAccount (): Account {
  if (!isRoot) return {}
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  const accountOf = (name: string) => lines.find(([first]) => first === name)
  const [, , uid, gid] = accountOf('postgres') ?? accountOf('nobody') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

interface Programs { readonly folder: string, readonly version: string }

let programs: Programs | undefined | null = null

function findPrograms (): Programs | undefined {
  if (programs !== null) return programs
  const versions = existsSync(DEBIAN) ? readVersions() : []
  const found = versions.map((version) => ({ version, folder: join(DEBIAN, version, 'bin') }))
    .find(({ folder }) => existsSync(join(folder, 'postgres')))
  const onPath = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'initdb')))
  programs = found ?? (onPath === undefined ? undefined : { folder: onPath, version: 'path' })
  return programs
}

function readVersions (): string[] {
  return readdirSync(DEBIAN).toSorted((one, other) => Number(other) - Number(one))
}

function programPath (name: string): string { return join(findPrograms()?.folder ?? '', name) }
