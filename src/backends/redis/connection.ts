// Connections to Redis or Valkey: to one server, to the master that Sentinels name, or to a cluster.
// The only file that knows how the driver is set up.

import { isIP } from 'node:net'
import { Cluster, Redis } from 'ioredis'
import { readRedisUrl, type RedisAddress } from './address.ts'
import { toRedisError } from './redis-error.ts'

type RedisClient = Redis | Cluster

interface RedisConnection {
  /** For commands. */
  readonly commands: RedisClient
  /** For channels: a connection that listens may send no other commands. */
  readonly subscriber: RedisClient
  /** The number of the database that keys are in. Channels are in none: they belong to the server. */
  readonly db: number
  /** Connects, and rejects where that does not succeed in time. Attempts go on even then, until `close`. */
  ready (deadlineMs: number): Promise<void>
  /** Idempotent. Commands under way reject. */
  close (): Promise<void>
}

interface RedisConnectionOptions {
  /** Told of each failure of a connection, and so of each attempt to connect that fails. */
  onError (error: unknown): void
}

/** A command rejects after this time, whether the server answers or not. */
const COMMAND_TIMEOUT_MS = 1500
/**
 * A connection on which nothing arrives for this time, although an answer is due, is closed. Nothing else
 * notices a half-open connection.
 */
const SILENCE_TIMEOUT_MS = 2000
const CONNECT_TIMEOUT_MS = 2000
const DISCONNECT_TIMEOUT_MS = 200
const MAX_RETRY_DELAY_MS = 1000
/** A node that was lost may come back without a change of the slots, and nothing else reports it. */
const SLOTS_REFRESH_MS = 2000

/** Opens no connection: `ready` does. Throws where the URL is unusable. */
export function openRedis (url: string, { onError }: RedisConnectionOptions): RedisConnection {
  const address = readRedisUrl(url)
  let lastError: Error | undefined
  const [commands, subscriber] = [createClient(address, 'commands'), createClient(address, 'subscriber')]
  const clients = [commands, subscriber]
  for (const client of clients) {
    const fail = (error: unknown) => {
      lastError = toRedisError(error)
      onError(lastError)
    }
    // Without a listener for `error` the driver writes to the console, or throws. The others are of a
    // cluster's nodes.
    for (const event of ['error', 'node error', 'nodeError']) client.on(event, fail)
  }

  return {
    commands,
    subscriber,
    db: address.db,
    async ready (deadlineMs) {
      const late = AbortSignal.timeout(deadlineMs)
      try {
        await Promise.all(clients.map(async (client) => await connect(client, late)))
      } catch {
        throw unreachableError(address, deadlineMs, lastError ?? new Error('it does not answer'))
      }
    },
    async close () {
      await Promise.all(clients.map(disconnect))
    }
  }
}

function unreachableError ({ hosts }: RedisAddress, deadlineMs: number, cause: Error): Error {
  const places = hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
  const problem = `no Redis is reachable at ${places} within ${deadlineMs} ms (${cause.message})`
  return new Error(`TRIVET_STATE_URL: ${problem}. Start it, or correct the setting`, { cause })
}

type Purpose = 'commands' | 'subscriber'

function createClient (address: RedisAddress, purpose: Purpose): RedisClient {
  const { kind, isTls, hosts, master, db } = address
  if (kind === 'cluster') return createCluster(address, purpose)
  const options = {
    ...toOptions(address, purpose),
    db,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: toRetryDelay
  }
  const [{ host, port } = { host: '', port: 0 }] = hosts
  if (kind === 'single') {
    const tls = isIP(host) === 0 ? { servername: host } : {}
    return new Redis({ ...options, host, port, ...(isTls && { tls }) })
  }
  return new Redis({
    ...options,
    sentinels: [...hosts],
    name: master,
    sentinelRetryStrategy: toRetryDelay,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    // Sentinels get the same password. A Sentinel that needs none accepts any.
    ...(address.password !== undefined && { sentinelPassword: address.password }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true })
  })
}

function toOptions ({ username, password }: RedisAddress, purpose: Purpose) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectionName: `trivet-${purpose}`,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // A command that was sent may have been executed. Only its caller can know whether to send it again.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: 500,
    // A channel subscribes again by itself, and so knows when it has.
    autoResubscribe: false,
    // After a failover the old master may go on answering, as a replica.
    reconnectOnError: (error: Error) => error.message.includes('READONLY')
  }
}

function createCluster (address: RedisAddress, purpose: Purpose): Cluster {
  const { isTls, hosts } = address
  const cluster = new Cluster([...hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: toRetryDelay,
    // A command whose connection broke may have been executed, as above.
    retryDelayOnFailover: 0,
    maxRedirections: 5,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    shardedSubscribers: purpose === 'subscriber',
    // A certificate is for a name: the name must not be resolved before the certificate is checked.
    ...(isTls && { dnsLookup: keepName }),
    redisOptions: { ...toOptions(address, purpose), ...(isTls && { tls: {} }) }
  })
  if (purpose === 'commands') connectNodesEarly(cluster)
  return cluster
}

function keepName (host: string, done: (error: null, address: string) => void): void {
  done(null, host)
}

/**
 * A node connects with its first command, and refuses all others until it is connected. So it is connected
 * before the first command.
 */
function connectNodesEarly (cluster: Cluster): void {
  const connectNodes = () => {
    for (const node of cluster.nodes('master')) if (node.status === 'wait') node.connect().catch(() => {})
  }
  cluster.on('ready', connectNodes)
  // Later, because a command that was redirected to a new node is about to connect it.
  cluster.on('+node', () => setImmediate(() => { if (cluster.status === 'ready') connectNodes() }))
}

/** With jitter: all replicas lose their connections at once. */
function toRetryDelay (attempts: number): number {
  return Math.min(attempts * 50, MAX_RETRY_DELAY_MS - 100) + Math.floor(Math.random() * 100)
}

async function connect (client: RedisClient, late: AbortSignal): Promise<void> {
  // Rejects with the first attempt, while further attempts follow.
  if (client.status === 'wait') client.connect().catch(() => {})
  await waitForStatus(client, 'ready', late)
  // A cluster is ready before its nodes are, and its nodes queue commands until they are ready.
  if (!(client instanceof Cluster)) return
  const nodes = client.nodes('master').filter((node) => node.status !== 'wait')
  await Promise.all(nodes.map(async (node) => await node.ping()))
}

async function disconnect (client: RedisClient): Promise<void> {
  if (client.status === 'end') return
  // Between two attempts to connect nothing is open. The driver then drops its timer and reports no end.
  if (client.status === 'reconnecting') return client.disconnect()
  const ended = waitForStatus(client, 'end', AbortSignal.timeout(2 * DISCONNECT_TIMEOUT_MS)).catch(() => {})
  client.disconnect()
  await ended
}

async function waitForStatus (client: RedisClient, status: 'ready' | 'end', late: AbortSignal): Promise<void> {
  if (client.status === status) return
  await new Promise<void>((resolve, reject) => {
    client.once(status, () => resolve())
    late.addEventListener('abort', () => reject(late.reason), { once: true })
  })
}
