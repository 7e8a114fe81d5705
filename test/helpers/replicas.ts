// The services of docker-compose.yml without containers: three replicas with one Redis, behind nginx.

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { startNginx } from './nginx.ts'
import { findFreePort, startRedisServer, type RedisServer } from './redis-server.ts'
import { startService, type Service } from './service.ts'

const ROOT = new URL('../../', import.meta.url)

export interface Replica {
  /** The endpoint of this replica, not through nginx. */
  readonly url: string
  /** The output since the last start. */
  stdout (): string
  /** Sends SIGTERM, as an orchestrator does, and resolves to the exit code. */
  stop (): Promise<number | null>
  /** Sends SIGKILL, or another signal. */
  kill (signal?: NodeJS.Signals): Promise<number | null>
  /** Starts the replica again on its port, and resolves when it serves. */
  restart (): Promise<void>
}

export interface Replicas {
  /** The endpoint, through nginx. */
  readonly url: string
  readonly replicas: readonly Replica[]
  readonly redis: RedisServer
}

export interface ReplicasOptions {
  /** The example catalog by default. */
  readonly catalog?: string
  /** Added to the variables of the compose file. */
  readonly environment?: { readonly [variable: string]: string }
}

/** Starts everything, and stops it when the test ends. Needs `hasRedisServer` and `hasNginx`. */
export async function startReplicas (
  t: Test, { catalog = fileURLToPath(new URL('catalog', ROOT)), environment = {} }: ReplicasOptions = {}
): Promise<Replicas> {
  const composition = parse(await readFile(new URL('docker-compose.yml', ROOT), 'utf8'))
  const [, ...redisCommand]: string[] = composition.services.redis.command.split(' ')
  const redis = await startRedisServer(t, { args: redisCommand })
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
  const replicas = await Promise.all(ports.map(async (port) => await startReplica(t, {
    ...composition['x-replica'].environment,
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'a secret of the replicas of one test',
    TRIVET_CATALOG: catalog,
    ...environment,
    PORT: String(port)
  })))
  const origin = await startNginx(t, composition.configs.nginx.content, ports)
  return { url: `${origin}/mcp`, replicas, redis }
}

async function startReplica (
  t: Test, environment: { readonly [variable: string]: string }
): Promise<Replica> {
  let service: Service = await startService(t, environment)
  return {
    url: service.url,
    stdout: () => service.stdout(),
    stop: async () => await service.stop(),
    kill: async (signal = 'SIGKILL') => await service.stop(signal),
    async restart () { service = await startService(t, environment) }
  }
}
