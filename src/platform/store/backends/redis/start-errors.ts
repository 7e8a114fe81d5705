// What operators read when a start ends because of Redis.

import { connect } from 'node:net'
import { toPlaces, type ServerHost } from '../server-address.ts'
import type { RedisAddress } from './address.ts'
import { toRedisError } from './redis-error.ts'
import type { CommandRunner } from './scripts.ts'

const PROBE_MS = 1000

/**
 * Resolves to why no connection to a host opens, such as a name that does not resolve. The driver does not
 * tell it of Sentinels and of the nodes of a cluster.
 */
export async function findCauses ({ hosts }: RedisAddress): Promise<string[]> {
  const causes = await Promise.all(hosts.map(findCause))
  return causes.filter((cause) => cause !== undefined)
}

async function findCause ({ host, port }: ServerHost): Promise<string | undefined> {
  const socket = connect({ host, port, timeout: PROBE_MS })
  return await new Promise<string | undefined>((resolve) => {
    socket.on('connect', () => resolve(undefined))
    socket.on('timeout', () => resolve(`connect ETIMEDOUT ${host}:${port}`))
    socket.on('error', (error) => resolve(toRedisError(error).message))
  }).finally(() => socket.destroy())
}

/** Scripts that read the clock may not write in earlier versions. Clusters need channels of shards. */
const OLDEST_VERSIONS = { single: 5, sentinel: 5, cluster: 7 }

/** A server that tells no version, or is away again, is not refused. */
export async function assertVersion (commands: CommandRunner, address: RedisAddress): Promise<void> {
  const info = String(await commands.call('INFO', 'server').catch(() => ''))
  const [, version = '', major] = /redis_version:((\d+)[\d.]*)/.exec(info) ?? []
  const oldest = OLDEST_VERSIONS[address.kind]
  if (major === undefined || Number(major) >= oldest) return
  throw new Error(`TRIVET_STATE_URL: the Redis at ${toPlaces(address.hosts)} has version ${version}. ` +
    `Version ${oldest} or later is needed`)
}
