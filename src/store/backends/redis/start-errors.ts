// What operators read when a start ends because of Redis.

import type { RedisAddress } from './address.ts'
import type { CommandRunner } from './scripts.ts'

export function toPlaces ({ hosts }: RedisAddress): string {
  return hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
}

export function toStartError (problem: string, cause: Error): Error {
  const advice = 'Start it, or correct the setting'
  return new Error(`TRIVET_STATE_URL: ${problem} (${cause.message}). ${advice}`, { cause })
}

/** Scripts that read the clock may not write in earlier versions. Clusters need channels of shards. */
const OLDEST_VERSIONS = { single: 5, sentinel: 5, cluster: 7 }

/** A server that tells no version, or is away again, is not refused. */
export async function assertVersion (commands: CommandRunner, address: RedisAddress): Promise<void> {
  const info = String(await commands.call('INFO', 'server').catch(() => ''))
  const [, version = '', major] = /redis_version:((\d+)[\d.]*)/.exec(info) ?? []
  const oldest = OLDEST_VERSIONS[address.kind]
  if (major === undefined || Number(major) >= oldest) return
  throw new Error(`TRIVET_STATE_URL: the Redis at ${toPlaces(address)} has version ${version}. Version ` +
    `${oldest} or later is needed`)
}
