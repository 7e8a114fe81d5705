import { runWithin, unlessAborted } from '../../../../base/deadline.ts'
import { createOutageLog } from '../../../../base/outage-log.ts'
import { retry, retryFor } from '../../../../base/retry.ts'
import { createLocalCallCounter } from '../../../limits/local-call-counter.ts'
import { EVENT_LOG_LIMITS } from '../../changes/event-log.ts'
import { START_RETRY, START_WAIT_MS } from '../../records/start-wait.ts'
import { toOpenedBackend, type BackendOptions, type OpenBackend } from '../backend.ts'
import { toPlaces, toStartError } from '../server-address.ts'
import { readPostgresUrl, type PostgresAddress } from './connections/address.ts'
import { openPostgresBroadcast } from './broadcast.ts'
import { createPostgresCallCounter } from './call-counter.ts'
import { connect, createTarget, type PostgresTarget } from './connections/connection.ts'
import { createPostgresDueTimes } from './due-times.ts'
import { createPostgresEventLog } from './event-log.ts'
import { prepareSchema, MigrationError } from './schema/migrations.ts'
import { Pool } from './connections/pool.ts'
import { isMistake, PostgresError, toPostgresError } from './postgres-error.ts'
import { toNames, type SchemaNames } from './schema/schema.ts'
import type { Connection } from './connections/postgres-connection.ts'
import { openPostgresStateStore } from './state-store.ts'
import { createSweep } from './sweep.ts'
import { readTls } from './connections/tls.ts'

/** How long the schema may take. A migration waits for that of another replica. */
const PREPARE_DEADLINE_MS = 30_000
const toLateError = () => (
  new Error(`TRIVET_STATE_URL: PostgreSQL did not make the schema within ${PREPARE_DEADLINE_MS} ms`)
)
/** The connections for statements. One more listens. */
const POOL_SIZE = 7
/** No attempt helps: the password, the user or the database is wrong. */
const LASTING = /^(?:28...|3D000)$/

/** All members share one pool of connections, and the broadcast has one more. */
export const openPostgresBackend: OpenBackend = async (url, options) => {
  const names = toNames(options.prefix)
  const address = readPostgresUrl(url)
  const warn = (problem: string) => { options.log.warn({}, `PostgreSQL: ${problem}`) }
  const target = createTarget(address, await readTls(address), warn)
  await makeReady(target, names, warn, options.signal)
  return await openReady(target, names, options)
}

/** The server may go away after the schema was checked: it is waited for as before that. */
async function openReady (target: PostgresTarget, names: SchemaNames, options: BackendOptions) {
  const { log, signal } = options
  const mayRetry = (error: unknown) => signal?.aborted !== true && !isMistake(error)
  const onOutage = createOutageLog({ log, message: 'PostgreSQL is not available' })
  // All attempts share it: a connection that comes late is there for the next one.
  const pool = new Pool(target, { size: POOL_SIZE, onError: onOutage })
  try {
    const open = async () => await openParts(target, names, options, { pool, onOutage })
    return await retryFor(START_WAIT_MS, open, { ...START_RETRY, mayRetry, ...signal && { signal } })
  } catch (error) {
    await pool.close()
    signal?.throwIfAborted()
    throw unreachableError(target.address, toPostgresError(error))
  }
}

/** Tries again what another replica, or the end of a connection, has disturbed. */
async function makeReady (
  target: PostgresTarget, names: SchemaNames, warn: (problem: string) => void, stop?: AbortSignal
): Promise<void> {
  let lastError: Error | undefined
  await runWithin(PREPARE_DEADLINE_MS, async (signal) => await retry(async () => {
    const connection = await connectFirst(target, signal)
    try {
      await unlessAborted(prepare(connection, names, warn), signal)
    } finally {
      if (signal.aborted) connection.destroy()
      else await connection.close()
    }
  }, {
    ...START_RETRY,
    signal,
    mayRetry (error) {
      if (!(error instanceof MigrationError)) return false
      lastError = error
      return error.isPassing && !signal.aborted
    }
  }), { stop, toError: () => lastError ?? toLateError() })
}

async function prepare (
  connection: Connection, names: SchemaNames, warn: (problem: string) => void
): Promise<void> {
  const risk = await prepareSchema(connection, names)
  if (risk !== undefined) warn(risk)
}

interface SharedPool { readonly pool: Pool, readonly onOutage: (error: unknown) => void }

async function openParts (
  target: PostgresTarget, names: SchemaNames,
  { log, eventLogLimits = EVENT_LOG_LIMITS, signal }: BackendOptions, { pool, onOutage }: SharedPool
) {
  const opening = openPostgresBroadcast({
    target,
    runner: pool,
    names,
    onError: createOutageLog({ log, message: 'changes and messages are not passed on to other replicas' })
  })
  try {
    const broadcast = await unlessAborted(opening, signal)
    const store = openPostgresStateStore(pool, names)
    const eventLog = createPostgresEventLog(pool, { names, ...eventLogLimits })
    const callCounter = createPostgresCallCounter(pool, {
      names,
      local: createLocalCallCounter(),
      onError: createOutageLog({ log, message: 'each replica counts its own calls for limits' })
    })
    const dueTimes = createPostgresDueTimes(pool, names)
    const sweep = createSweep(pool, names, { onError: onOutage })
    return toOpenedBackend({ store, broadcast, eventLog, callCounter, dueTimes }, async () => {
      await sweep.close()
      await pool.close()
    })
  } catch (error) {
    opening.then(async (broadcast) => await broadcast.close(), () => {})
    throw error
  }
}

/** The server may start at the same time as the service. */
async function connectFirst (target: PostgresTarget, stop: AbortSignal): Promise<Connection> {
  let lastError: PostgresError | undefined
  try {
    return await runWithin(START_WAIT_MS, async (signal) => {
      const connection = await retry(async () => await connect(target), {
        ...START_RETRY,
        signal,
        mayRetry (error) {
          lastError = toPostgresError(error)
          return !signal.aborted && !LASTING.test(lastError.code ?? '')
        }
      })
      if (signal.aborted) connection.destroy()
      return connection
    }, { stop, toError: () => new Error('it does not answer') })
  } catch (error) {
    throw unreachableError(target.address, lastError ?? toPostgresError(error))
  }
}

function unreachableError ({ hosts }: PostgresAddress, cause: PostgresError): Error {
  return toStartError(`no PostgreSQL can be used at ${toPlaces(hosts)}`, cause)
}
