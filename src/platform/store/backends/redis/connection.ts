// Connections to Redis or Valkey: to one server, to the master that Sentinels name, or to a cluster.
// Only this file configures the driver.

import { isIP } from 'node:net'
import { Cluster, Redis, type Command } from 'ioredis'
import { random, timers } from '../../../../base/time.ts'
import { messageOf, toError } from '../../../../base/words.ts'
import { AnswerTime, ANSWER_MS } from '../answer-time.ts'
import { toPlaces, toStartError } from '../server-address.ts'
import { readRedisUrl, type RedisAddress } from './address.ts'
import { ClusterSubscriber } from './cluster-subscriber.ts'
import { isNotConnected, RedisError, toRedisError } from './redis-error.ts'
import { isNamedByMost } from './sentinel-votes.ts'
import { assertVersion, findCauses } from './start-errors.ts'

type RedisClient = Redis | Cluster
type Client = RedisClient | ClusterSubscriber

interface RedisConnectionOptions {
  /** Called with each error of a connection, so after each failed attempt to connect. */
  onError (error: unknown): void
}

/**
 * A connection that waits for an answer and receives nothing for this time is closed. No other check detects
 * a half-open connection. Longer than an event loop may pause: the driver does not look for an answer first.
 */
const SILENCE_TIMEOUT_MS = 5000
const CONNECT_TIMEOUT_MS = 2000
const DISCONNECT_TIMEOUT_MS = 200
const MAX_RETRY_DELAY_MS = 1000
/** A lost node may come back without a change of the slots. Only the refresh of the slots detects that. */
const SLOTS_REFRESH_MS = 2000

/** Does not connect: `ready` does. Throws if the URL is not valid. */
export function openRedis (url: string, { onError }: RedisConnectionOptions) {
  const address = readRedisUrl(url)
  let lastError: Error | undefined
  const commands = createClient(address, 'commands')
  const subscriber = address.kind === 'cluster'
    ? new ClusterSubscriber(() => createCluster(address, 'subscriber'))
    : createClient(address, 'subscriber')
  const clients = [commands, subscriber]
  for (const client of clients) {
    const fail = (error: unknown) => {
      const redisError = toRedisError(error)
      if (lastError === undefined || !isNotConnected(redisError)) lastError = redisError
      onError(redisError)
      // The driver would go on with the first database, which may be of another service.
      if (redisError.command === 'select') client.disconnect(true)
    }
    // Without a listener for `error` the driver writes to the console, or throws. The other two events are of
    // the nodes of a cluster.
    for (const event of ['error', 'node error', 'nodeError']) client.on(event, fail)
  }

  return {
    commands,
    /** For channels: a subscribed connection cannot send other commands. */
    subscriber,
    /** The number of the database for keys. Channels belong to the server, not to a database. */
    db: address.db,
    /**
     * Resolves to whether the Redis of `commands` is the master for most Sentinels. `undefined` without
     * Sentinels: no replica takes the place of a lost master.
     */
    isNamed: commands instanceof Redis && address.kind === 'sentinel'
      ? async () => await isNamedByMost(commands, () => openSentinels(address), address.master)
      : undefined,
    /** Connects, and rejects after the deadline. Attempts to connect continue until `close`. */
    async ready (deadlineMs: number): Promise<void> {
      try {
        await Promise.all(clients.map(async (client) => await connect(client, deadlineMs)))
      } catch {
        const problem = `no Redis is reachable at ${toPlaces(address.hosts)} within ${deadlineMs} ms`
        const cause = lastError ?? new Error('it does not answer')
        const causes = address.kind === 'single' ? [] : await findCauses(address)
        if (causes.length < address.hosts.length) causes.push(cause.message)
        throw toStartError(problem, cause, causes)
      }
      await assertVersion(commands, address)
    },
    /** Returns an error for operators, after Redis was reached and went away, or refused something. */
    toUnreachable (error: unknown): Error {
      const { cause } = toError(error)
      const reason = cause instanceof RedisError ? cause : lastError ?? toError(cause)
      return toStartError(`Redis at ${toPlaces(address.hosts)}: ${messageOf(error)}`, reason)
    },
    /** Idempotent. Commands in progress reject. */
    async close (): Promise<void> { await Promise.all(clients.map(disconnect)) }
  }
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
    return new DeadlineRedis({ ...options, host, port, ...(isTls && { tls }) })
  }
  return new DeadlineRedis({
    ...options,
    sentinels: [...hosts],
    name: master,
    sentinelRetryStrategy: toRetryDelay,
    sentinelCommandTimeout: ANSWER_MS,
    // Sentinels get the same password. A Sentinel without a password accepts any.
    ...(address.password !== undefined && { sentinelPassword: address.password }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true })
  })
}

function openSentinels ({ hosts, isTls, password }: RedisAddress): Redis[] {
  return hosts.map(({ host, port }) => new Redis({
    host,
    port,
    ...(password !== undefined && { password }),
    ...(isTls && { tls: {} }),
    connectionName: 'trivet-votes',
    connectTimeout: CONNECT_TIMEOUT_MS,
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: null
  }))
}

function toOptions ({ username, password }: RedisAddress, purpose: Purpose) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectionName: `trivet-${purpose}`,
    socketTimeout: SILENCE_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // A command whose connection broke may have been executed. Only the caller can decide to send it again.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: 500,
    // The channel subscribes again by itself, so it knows when the subscription is restored.
    autoResubscribe: false,
    // After a failover the old master may still answer, as a replica.
    reconnectOnError: (error: Error) => error.message.includes('READONLY')
  }
}

function createCluster (address: RedisAddress, purpose: Purpose): Cluster {
  const { isTls, hosts } = address
  const cluster = new DeadlineCluster([...hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: toRetryDelay,
    // No resending: a command whose connection broke may have been executed.
    retryDelayOnFailover: 0,
    maxRedirections: 5,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    shardedSubscribers: purpose === 'subscriber',
    // A certificate is valid for a host name, so the name must not be replaced by an address before the
    // check.
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
 * A node connects at its first command, and rejects all others until it is connected. This connects each node
 * before its first command.
 */
function connectNodesEarly (cluster: Cluster): void {
  const connectNodes = () => {
    for (const node of cluster.nodes('master')) if (node.status === 'wait') node.connect().catch(() => {})
  }
  cluster.on('ready', connectNodes)
  // In the next turn, because a redirected command may connect the new node in this one.
  cluster.on('+node', () => setImmediate(() => { if (cluster.status === 'ready') connectNodes() }))
}

/** With jitter, because all replicas lose their connections at the same time. */
function toRetryDelay (attempts: number): number {
  return Math.min(attempts * 50, MAX_RETRY_DELAY_MS - 100) + Math.floor(random.number() * 100)
}

async function connect (client: Client, deadlineMs: number): Promise<void> {
  // Rejects after the first failed attempt, but the driver keeps trying.
  if (client.status === 'wait') client.connect().catch(() => {})
  await waitForStatus(client, 'ready', deadlineMs)
  // A cluster is ready before its nodes are, and its nodes queue commands until they are ready.
  if (!(client instanceof Cluster)) return
  const nodes = client.nodes('master').filter((node) => node.status !== 'wait')
  await Promise.all(nodes.map(async (node) => await node.ping()))
}

async function disconnect (client: Client): Promise<void> {
  if (client.status === 'end') return
  // Between two attempts no connection is open. The driver then clears its timer and emits no `end`.
  if (client.status === 'reconnecting') return client.disconnect()
  const ended = waitForStatus(client, 'end', 2 * DISCONNECT_TIMEOUT_MS).catch(() => {})
  client.disconnect()
  await ended
}

async function waitForStatus (
  client: Client, status: 'ready' | 'end', deadlineMs: number
): Promise<void> {
  if (client.status === status) return
  await new Promise<void>((resolve, reject) => {
    // Keeps the process alive: between two attempts to connect nothing else does.
    const timer = timers.setTimeout(() => {
      client.off(status, onStatus)
      reject(new Error(`not ${status} within ${deadlineMs} ms`))
    }, deadlineMs)
    const onStatus = () => {
      timers.clear(timer)
      resolve()
    }
    client.once(status, onStatus)
  })
}

class DeadlineRedis extends Redis {
  readonly #deadlines = new Deadlines()

  override sendCommand (...parts: Parameters<Redis['sendCommand']>): unknown {
    this.#deadlines.set(parts[0])
    return super.sendCommand(...parts)
  }
}

class DeadlineCluster extends Cluster {
  readonly #deadlines = new Deadlines()

  override sendCommand (...parts: Parameters<Cluster['sendCommand']>): unknown {
    this.#deadlines.set(parts[0])
    return super.sendCommand(...parts)
  }
}

/**
 * The driver has a timeout for commands too, but its timer runs before the sockets are read: after a pause of
 * the event loop it would refuse commands whose answers have arrived.
 */
class Deadlines {
  readonly #time = new AnswerTime()

  set (command: Command): void {
    const { ms } = this.#time
    const timer = timers.setTimeout(() => {
      // Sockets are read before this runs.
      setImmediate(() => {
        if (command.isSettled) return
        if (ms === ANSWER_MS) this.#time.noteSilence()
        command.reject(new Error('Command timed out'))
      })
    }, ms)
    command.promise.then(
      () => {
        timers.clear(timer)
        this.#time.noteAnswer()
      },
      () => { timers.clear(timer) }
    )
  }
}
