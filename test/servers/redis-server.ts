// Real Redis servers for tests, on free ports of the loopback interface: one alone, a cluster, or a master
// with a Sentinel.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { hasPrograms } from './programs.ts'
import { limitFiles } from './small-disk.ts'

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Runs redis-cli against this server, and resolves to its output. */
  cli (...args: string[]): Promise<string>
  /** Ends the server as a crash would. */
  kill (): Promise<void>
  /** Starts the server again on its port, with the data that it kept. */
  restart (): Promise<void>
  /** The server keeps its connections and does not answer, until `thaw` is called. */
  freeze (): void
  thaw (): void
  /** Takes away the room for files beyond this size, in bytes, or gives it back: the disk is then full. */
  limitFiles (bytes: number | 'unlimited'): Promise<void>
}

export interface RedisServerOptions {
  readonly password?: string
  /** Whether each write is stored in a file before it is acknowledged. */
  readonly isDurable?: boolean
  readonly args?: readonly string[]
  /** Where it keeps its files. A new folder by default. */
  readonly folder?: string
}

/** Whether Redis can be started here. See `hasPrograms`. */
export function hasRedisServer (t: Test): boolean {
  return hasPrograms(t, ['redis-server', 'redis-cli'], 'redis-server')
}

/** Starts one server, and stops it when the test ends. */
export async function startRedisServer (
  t: Test, { password, isDurable = false, args = [], ...options }: RedisServerOptions = {}
): Promise<RedisServer> {
  const port = await findFreePort()
  const folder = options.folder ?? await makeFolder(t)
  const launch = createLauncher(t, [
    '--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', isDurable
      ? 'yes'
      : 'no', '--appendfsync', 'always',
    ...(password === undefined ? [] : ['--requirepass', password]), ...args
  ])
  let child = await launch()
  return {
    port,
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    cli: async (...words) => await runCli(port, password, words),
    async kill () { await end(child) },
    async restart () { child = await launch() },
    freeze () { child.kill('SIGSTOP') },
    thaw () { child.kill('SIGCONT') },
    async limitFiles (bytes) { await limitFiles(child, bytes) }
  }
}

/** Starts three masters without replicas. */
export async function startRedisCluster (t: Test): Promise<{ url: string, nodes: readonly RedisServer[] }> {
  const nodes = await Promise.all(Array.from({ length: 3 }, async () => await startRedisServer(t, {
    args: [
      '--cluster-enabled', 'yes', '--cluster-port', String(await findFreePort()), '--cluster-node-timeout',
      '2000'
    ]
  })))
  const [first] = nodes
  if (first === undefined) throw new TypeError('unreachable')
  await first.cli(
    '--cluster', 'create', ...nodes.map(({ port }) => `127.0.0.1:${port}`), '--cluster-replicas', '0',
    '--cluster-yes'
  )
  for (const node of nodes) {
    await until(async () => (await node.cli('cluster', 'info')).includes('cluster_state:ok'), 'the cluster')
  }
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, nodes }
}

/** Starts one master, called `trivet-master`, and one Sentinel. */
export async function startRedisSentinel (
  t: Test, password: string
): Promise<{ url: string, master: RedisServer }> {
  const master = await startRedisServer(t, { password })
  const port = await findFreePort()
  const file = join(await makeFolder(t), 'sentinel.conf')
  await writeFile(file, [
    `port ${port}`, 'bind 127.0.0.1', `sentinel monitor trivet-master 127.0.0.1 ${master.port} 1`,
    `sentinel auth-pass trivet-master "${password}"`, ''
  ].join('\n'))
  const launch = createLauncher(t, [file, '--sentinel'])
  await launch()
  return { url: `redis+sentinel://:${encodeURIComponent(password)}@127.0.0.1:${port}/trivet-master`, master }
}

export function createLauncher (t: Test, args: readonly string[]): () => Promise<ChildProcess> {
  return async () => {
    // Without the trap, a write beyond the limit of files ends the process. Node.js ignores that signal too.
    const command = ['-c', 'trap "" XFSZ && exec redis-server "$@"', 'sh', ...args]
    const child = spawn('/bin/sh', command, { stdio: ['ignore', 'pipe', 'pipe'] })
    t.teardown(async () => await end(child))
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => { printed += text })
    child.stderr.setEncoding('utf8').on('data', (text: string) => { printed += text })
    await until(() => {
      const end = child.exitCode ?? child.signalCode
      if (end !== null) throw new Error(`redis-server ended with ${end}:\n${printed}`)
      return /Ready to accept connections|Sentinel ID is/.test(printed)
    }, 'redis-server', 30_000)
    return child
  }
}

async function end (child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await within(exited, 'the end of redis-server')
}

async function runCli (
  port: number, password: string | undefined, words: readonly string[]
): Promise<string> {
  const login = password === undefined ? [] : ['-a', password, '--no-auth-warning']
  const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...login, ...words])
  return stdout.trim()
}
