// Connections to Redis or Valkey: to one server, to the master that Sentinels name, or to a cluster.

import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { Cluster, Redis } from 'ioredis'

export type RedisClient = Redis | Cluster

export interface RedisConnection {
  /** For whatever is asked and answered. */
  readonly commands: RedisClient
  /** For what is listened to: a connection that listens may do nothing else. */
  readonly subscriber: RedisClient
  /** Connects, and rejects where that does not succeed in time. It goes on being tried even then, until `close`. */
  ready (deadlineMs: number): Promise<void>
  /** Idempotent. What is under way rejects. */
  close (): Promise<void>
}

export interface RedisConnectionOptions {
  /** Told of each failure of a connection, such as each attempt in vain. */
  onError (error: unknown): void
  /** The setting that the URL is from, for complaints about it. */
  readonly setting?: string
  /** Further options of TLS, such as a `ca` of one's own. */
  readonly tls?: ConnectionOptions
}

/** A call is over within this time, whether the server answers or not. */
const COMMAND_TIMEOUT_MS = 1500
/** A connection on which nothing comes for this time, although an answer is due, is given up: only so are half-open ones noticed. */
const SILENCE_TIMEOUT_MS = 2000
const CONNECT_TIMEOUT_MS = 2000
const DISCONNECT_TIMEOUT_MS = 200
const MAX_RETRY_DELAY_MS = 1000
/** A node that was lost comes back without a change of the slots, so that nothing else would show it. */
const SLOTS_REFRESH_MS = 2000

/** Opens nothing yet: `ready` does. Throws an Error that says what the URL must be, and nothing of what it is: there is a password in it. */
export function openRedis (url: string, { onError, setting = 'TRIVET_STATE_URL', tls = {} }: RedisConnectionOptions): RedisConnection {
  const address = readAddress(url, setting)
  let lastError: unknown
  const clients = (['commands', 'subscriber'] as const).map((purpose) => {
    const client = createClient(address, purpose, tls)
    const fail = (error: unknown) => {
      lastError = error
      onError(error)
    }
    // Without a listener for `error` the driver writes to the console, or throws. The others are those of a cluster's nodes.
    for (const event of ['error', 'node error', 'nodeError']) client.on(event, fail)
    return client
  })
  const [commands, subscriber] = clients
  if (commands === undefined || subscriber === undefined) throw new TypeError('unreachable')

  return {
    commands,
    subscriber,
    async ready (deadlineMs) {
      const late = AbortSignal.timeout(deadlineMs)
      try {
        await Promise.all(clients.map(async (client) => await connect(client, late)))
      } catch {
        const cause = lastError ?? new Error('it does not answer')
        throw new Error(`${setting}: no Redis is reachable at ${address.hosts.map(({ host, port }) => `${host}:${port}`).join(', ')} ` +
          `within ${deadlineMs} ms (${cause instanceof Error ? cause.message : String(cause)}). Start it, or correct the setting`, { cause })
      }
    },
    async close () {
      await Promise.all(clients.map(disconnect))
    }
  }
}

interface Address {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly hosts: ReadonlyArray<{ readonly host: string, readonly port: number }>
  readonly master: string
  readonly db: number
}

const FORMS = 'redis://[user:password@]host[:port][/db], redis+sentinel://[user:password@]host[:port],…/master[/db] or ' +
  'redis+cluster://[user:password@]host[:port],…, each with rediss for TLS, and with what is special in a password percent-encoded'
const URL_FORM = /^redis(s)?(?:\+(sentinel|cluster))?:\/\/(?:([^/@]*)@)?([^/@?#]+)(?:\/([^?#]*))?$/
const HOST_FORM = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i

function readAddress (url: string, setting: string): Address {
  const complain = (problem: string) => new Error(`${setting} must be ${FORMS}: ${problem}`)
  const [, tls, kind = 'single', credentials, hostList = '', path = ''] = URL_FORM.exec(url) ?? []
  if (hostList === '') throw complain('it is none of these')
  if (kind !== 'single' && kind !== 'sentinel' && kind !== 'cluster') throw complain('it is none of these')
  const hosts = hostList.split(',').map((one) => {
    const [, bracketed, plain, port = kind === 'sentinel' ? '26379' : '6379'] = HOST_FORM.exec(one) ?? []
    const host = bracketed ?? plain
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) throw complain('each host must be a name or an address, with a port from 1 to 65535 or none')
    return { host, port: Number(port) }
  })
  if (kind === 'single' && hosts.length > 1) throw complain('more than one host needs redis+sentinel or redis+cluster')
  const parts = path.split('/').filter((part) => part !== '')
  const master = kind === 'sentinel' ? parts.shift() : ''
  if (master === undefined) throw complain('the name of the master is missing, such as /mymaster')
  const [db = '0', ...rest] = parts
  if (!/^\d{1,5}$/.test(db) || rest.length > 0) throw complain('what follows the hosts must be the number of a database')
  if (kind === 'cluster' && Number(db) !== 0) throw complain('a cluster has no databases but 0')
  return { kind, isTls: tls !== undefined, ...readCredentials(credentials, complain), hosts, master, db: Number(db) }
}

function readCredentials (text: string | undefined, complain: (problem: string) => Error): { username?: string, password?: string } {
  if (text === undefined) return {}
  const colon = text.indexOf(':')
  if (colon === -1) throw complain('what precedes the @ must be user:password, or :password')
  try {
    const [username, password] = [text.slice(0, colon), text.slice(colon + 1)].map(decodeURIComponent)
    return { ...(username !== undefined && username !== '' && { username }), ...(password !== undefined && password !== '' && { password }) }
  } catch {
    throw complain('the user or the password is not percent-encoded')
  }
}

function createClient ({ kind, isTls, username, password, hosts, master, db }: Address, purpose: 'commands' | 'subscriber', tls: ConnectionOptions): RedisClient {
  const isSubscriber = purpose === 'subscriber'
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    connectionName: `trivet-${purpose}`,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // A command that was sent may have been executed: whether it is to be sent again, only its caller can know.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: 500,
    // Whoever subscribed does so again, and knows then that it is.
    autoResubscribe: false,
    // After a failover the old master may go on answering, as a replica.
    reconnectOnError: (error: Error) => error.message.includes('READONLY')
  }
  if (kind === 'cluster') {
    const cluster = new Cluster([...hosts], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: toRetryDelay,
      // As above: a command whose connection broke may have been executed.
      retryDelayOnFailover: 0,
      maxRedirections: 5,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      shardedSubscribers: isSubscriber,
      // A certificate is for a name: it must not be resolved before it is checked.
      ...(isTls && { dnsLookup: (host: string, done: (error: null, address: string) => void) => done(null, host) }),
      redisOptions: { ...options, ...(isTls && { tls }) }
    })
    if (!isSubscriber) connectNodesEarly(cluster)
    return cluster
  }
  const single = { ...options, db, lazyConnect: true, enableOfflineQueue: false, retryStrategy: toRetryDelay }
  const [{ host, port } = { host: '', port: 0 }] = hosts
  if (kind === 'single') return new Redis({ ...single, host, port, ...(isTls && { tls: { ...(isIP(host) === 0 && { servername: host }), ...tls } }) })
  return new Redis({
    ...single,
    sentinels: [...hosts],
    name: master,
    sentinelRetryStrategy: toRetryDelay,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    // Sentinels are asked with the same password: one that needs none accepts any.
    ...(password !== undefined && { sentinelPassword: password }),
    ...(isTls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true })
  })
}

/** A node connects with its first command and refuses all others until it is connected: the first had better be none of anybody's. */
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
  // Fails with the first attempt, while others follow.
  if (client.status === 'wait') client.connect().catch(() => {})
  await reach(client, 'ready', late)
  // A cluster is ready before its nodes are, and those keep what they are asked until then.
  if (client instanceof Cluster) await Promise.all(client.nodes('master').filter((node) => node.status !== 'wait').map(async (node) => await node.ping()))
}

async function disconnect (client: RedisClient): Promise<void> {
  if (client.status === 'end') return
  const ended = reach(client, 'end', AbortSignal.timeout(2 * DISCONNECT_TIMEOUT_MS)).catch(() => {})
  client.disconnect()
  await ended
}

async function reach (client: RedisClient, status: 'ready' | 'end', late: AbortSignal): Promise<void> {
  if (client.status === status) return
  await new Promise<void>((resolve, reject) => {
    client.once(status, () => resolve())
    late.addEventListener('abort', () => reject(late.reason), { once: true })
  })
}
