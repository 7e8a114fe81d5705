// The services of docker-compose.yml without containers: three replicas with one Redis, behind nginx or
// HAProxy.

import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { makeFolder } from './folder.ts'
import { findFreePort } from './free-port.ts'
import { PROXIES, type ProxyName } from '../servers/proxies.ts'
import { readComposition } from '../servers/proxy.ts'
import { startRedisServer, type RedisServer } from '../servers/redis-server.ts'
import { startService, type Service } from './service.ts'

const EXAMPLE = fileURLToPath(new URL('../../catalog', import.meta.url))

export interface Replica {
  /** The endpoint of this replica, not through the proxy. */
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
  /** The endpoint, through the proxy. */
  readonly url: string
  readonly replicas: readonly Replica[]
  readonly redis: RedisServer
}

export interface ReplicasOptions {
  /** The example catalog by default. */
  readonly catalog?: string
  /** Added to the variables of the compose file. */
  readonly environment?: { readonly [variable: string]: string }
  /** nginx by default. */
  readonly proxy?: ProxyName
}

/** Starts everything, and stops it when the test ends. Needs Redis and the proxy: see `hasPrograms`. */
export async function startReplicas (
  t: Test, { catalog = EXAMPLE, environment = {}, proxy = 'nginx' }: ReplicasOptions = {}
): Promise<Replicas> {
  const composition = await readComposition()
  const [, ...redisCommand]: string[] = composition.services.redis.command.split(' ')
  const redis = await startRedisServer(t, { args: redisCommand })
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
  const common = await toReplicaEnvironment(t, redis.url, catalog)
  const replicas = await Promise.all(ports.map(async (port) => await startReplica(t, {
    ...common, ...environment, PORT: String(port)
  })))
  const origin = await PROXIES[proxy].start(t, ports)
  return { url: `${origin}/mcp`, replicas, redis }
}

/** The variables of the compose file, for replicas of one machine. */
export async function toReplicaEnvironment (t: Test, stateUrl: string, catalog: string) {
  const composition = await readComposition()
  return {
    ...composition['x-replica'].environment,
    TRIVET_STATE_URL: stateUrl,
    TRIVET_FILES_URL: `file:${await makeFolder(t)}`,
    TRIVET_PUBLIC_URL: 'http://localhost:3000/mcp',
    TRIVET_SECRETS: 'a secret of the replicas of one test',
    TRIVET_DRAIN_MS: '0',
    // All clients of a test are one caller, and some load the replicas for minutes.
    TRIVET_MAX_CALLS_PER_CALLER: 'off',
    TRIVET_ADMIN_PORT: '0',
    TRIVET_ADMIN_HOST: '127.0.0.1',
    TRIVET_CATALOG: catalog
  }
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
