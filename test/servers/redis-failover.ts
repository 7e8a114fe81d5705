// A real Redis that fails over: a master, its replica, and three Sentinels that agree on a loss.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { until } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { createLauncher, startRedisServer, type RedisServer } from './redis-server.ts'

export interface RedisFailover {
  /** Names the Sentinels. */
  readonly url: string
  readonly master: RedisServer
  /** The port at which everybody else reaches the master. */
  readonly masterPort: number
  readonly replica: RedisServer
  /** The replica gets nothing that the master writes from now on. */
  cutOffReplica (): void
  /** Resolves when the replica is the master for all Sentinels. */
  failedOver (): Promise<void>
  /** Resolves to how often the Sentinels have begun a failover. */
  countFailovers (): Promise<number>
}

const NAME = 'trivet-master'
/**
 * How long the master is silent before the Sentinels count it as lost, in milliseconds. A busy machine must
 * not make it so: two masters would acknowledge, each alone.
 */
const DOWN_AFTER_MS = 3000
const SENTINELS = 3
const QUORUM = 2
const FAILOVER_DEADLINE_MS = 30_000

/** Starts all servers, and stops them when the test ends. Everybody reaches the master through a link. */
export async function startRedisFailover (t: Test): Promise<RedisFailover> {
  // By default a new replica waits for others.
  const args = ['--repl-diskless-sync-delay', '0']
  const linkPort = await findFreePort()
  const master = await startRedisServer(t, {
    isDurable: true, args: [...args, '--replica-announce-port', String(linkPort)]
  })
  const link = await openLink(t, linkPort, master.port)
  const replica = await startRedisServer(t, {
    isDurable: true, args: [...args, '--replicaof', '127.0.0.1', String(linkPort)]
  })
  const isSynced = async () => /state=online,offset=[1-9]/.test(await master.cli('info', 'replication'))
  await slowly(isSynced, 'the replica to have what the master has')
  const ports = await Promise.all(Array.from({ length: SENTINELS }, async () => {
    return await startSentinel(t, linkPort)
  }))
  for (const port of ports) {
    await slowly(async () => {
      const state = await askSentinel(port, 'master', NAME)
      return new RegExp(`num-slaves\\n1\\nnum-other-sentinels\\n${SENTINELS - 1}\\n`).test(state)
    }, 'the Sentinels to know all servers')
  }
  return {
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    master,
    masterPort: linkPort,
    replica,
    cutOffReplica: link.cutOffReplica,
    async failedOver () {
      for (const port of ports) {
        await slowly(async () => {
          const [, masterPort] = (await askSentinel(port, 'get-master-addr-by-name', NAME)).split('\n')
          return masterPort === String(replica.port)
        }, 'the failover')
      }
    },
    async countFailovers () {
      const states = await Promise.all(ports.map(async (port) => await askSentinel(port, 'master', NAME)))
      return Math.max(...states.map((state) => Number(/config-epoch\n(\d+)/.exec(state)?.[1])))
    }
  }
}

async function startSentinel (t: Test, masterPort: number): Promise<number> {
  const port = await findFreePort()
  const file = join(await makeFolder(t), 'sentinel.conf')
  await writeFile(file, [
    `port ${port}`, 'bind 127.0.0.1', `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`, `sentinel failover-timeout ${NAME} 5000`, ''
  ].join('\n'))
  await createLauncher(t, [file, '--sentinel'])()
  return port
}

async function askSentinel (port: number | undefined, ...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), 'sentinel', ...words])
  return stdout
}

/** Each look starts a process. */
async function slowly (holds: () => Promise<boolean>, what: string): Promise<void> {
  await until(async () => await holds() || await pause(100, false), what, FAILOVER_DEADLINE_MS)
}

/** Passes bytes on. Not a firewall: Redis would send what its kernel has. */
async function openLink (t: Test, port: number, to: number): Promise<{ cutOffReplica (): void }> {
  const sockets = new Set<Socket>()
  let isCutOff = false
  const server = createServer((inbound) => {
    const outbound = connect(to, '127.0.0.1')
    let isReplica = false
    inbound.on('data', (bytes) => {
      isReplica ||= bytes.includes('PSYNC')
      outbound.write(bytes)
    })
    outbound.on('data', (bytes) => { if (!isReplica || !isCutOff) inbound.write(bytes) })
    for (const [one, other] of [[inbound, outbound], [outbound, inbound]] as const) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { cutOffReplica () { isCutOff = true } }
}
