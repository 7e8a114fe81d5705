// One connection to the first host that takes writes. Only this file configures the driver.

import { connect as connectSocket, Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { Client } from 'pg'
import { withinDeadline } from '../../../../../base/deadline.ts'
import type { ServerHost } from '../../server-address.ts'
import type { PostgresAddress } from './address.ts'
import { readPassFile } from './pass-file.ts'
import { hasCode, PostgresError, toPostgresError } from '../postgres-error.ts'
import {
  OWN_LOCK_TIMEOUT, PostgresConnection, STARTUP_LIMITS, type Connection, type PoolerTraits
} from './postgres-connection.ts'

/** Where connections go, and what they have learnt about it. */
export interface PostgresTarget extends PoolerTraits {
  readonly address: PostgresAddress
  readonly tls: ConnectionOptions | undefined
  /** The host that took writes last. */
  firstHost: number
}

const CONNECT_TIMEOUT_MS = 1000
const KEEP_ALIVE_MS = 5000
/**
 * A session that has kept its limits also gives up the limit of idle sessions, which servers before
 * PostgreSQL 14 do not have: the connection that listens is idle for long.
 */
const FIND_STATE = `SELECT current_setting('transaction_read_only'), current_setting('lock_timeout'),
  CASE WHEN current_setting('lock_timeout') = '${OWN_LOCK_TIMEOUT}'
    AND current_setting('idle_session_timeout', true) IS NOT NULL
  THEN set_config('idle_session_timeout', '0', false) END`

export function createTarget (
  address: PostgresAddress, tls: ConnectionOptions | undefined, onRestriction: (problem: string) => void
): PostgresTarget {
  return { address, tls, firstHost: 0, isPooled: false, isPrepared: true, onRestriction }
}

/** Rejects with a PostgresError if no host takes writes. */
export async function connect (target: PostgresTarget): Promise<Connection> {
  const { hosts } = target.address
  const errors: PostgresError[] = []
  for (let tried = 0; tried < hosts.length; tried++) {
    const index = (target.firstHost + tried) % hosts.length
    const host = hosts[index]
    if (host === undefined) break
    try {
      const connection = await connectTo(target, host)
      target.firstHost = index
      return connection
    } catch (error) {
      errors.push(toPostgresError(error))
    }
  }
  const [first] = errors
  if (first !== undefined && errors.length === 1) throw first
  throw new PostgresError(errors.map(({ message }) => message).join(', '), first?.code)
}

async function connectTo (target: PostgresTarget, place: ServerHost): Promise<Connection> {
  const connection = await openAdapted(target, place)
  try {
    const finding = connection.runText(FIND_STATE)
    const [[isReadOnly, lockTimeout] = []] = await withinDeadline(finding, CONNECT_TIMEOUT_MS, toLateError)
    if (isReadOnly !== 'off') {
      throw new PostgresError(`${place.host}:${place.port} takes no writes: a standby, or read-only`, '25006')
    }
    if (!target.isPooled && lockTimeout !== OWN_LOCK_TIMEOUT) setPooled(target)
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** Does without what the server refuses. */
async function openAdapted (target: PostgresTarget, place: ServerHost): Promise<PostgresConnection> {
  const mayDoWithoutTls = target.address.sslMode === 'prefer'
  // A Unix socket needs no TLS. libpq uses none there either.
  let tls = place.host.startsWith('/') ? undefined : target.tls
  for (;;) {
    const wasPooled = target.isPooled
    try {
      return await openConnection(target, place, tls)
    } catch (error) {
      if (!wasPooled && isRefusedSetting(error)) setPooled(target)
      else if (tls !== undefined && mayDoWithoutTls && isWithoutTls(error)) tls = undefined
      else throw error
    }
  }
}

/** Several connections may find it out at once. */
function setPooled (target: PostgresTarget): void {
  if (target.isPooled) return
  target.isPooled = true
  target.onRestriction('a pooler does not keep settings: each statement takes three round trips')
}

const toLateError = () => new PostgresError(`PostgreSQL did not answer within ${CONNECT_TIMEOUT_MS} ms`)
const isRefusedSetting = (error: unknown) => hasCode(error, '08P01') &&
  error instanceof Error && error.message.includes('startup parameter')
const isWithoutTls = (error: unknown) => error instanceof Error && /does not support SSL/.test(error.message)

async function openConnection (
  target: PostgresTarget, { host, port }: ServerHost, tls: ConnectionOptions | undefined
): Promise<PostgresConnection> {
  const { user, password, passFile, database } = target.address
  const socket = new Socket()
  const client = new Client({
    host,
    port,
    user,
    database,
    // A function, so that the driver reads no password from the environment, and a changed file counts.
    password: () => password === '' && passFile !== undefined
      ? readPassFile(passFile, { host, port }, { database, user })
      : password,
    // The driver changes the object.
    ssl: tls === undefined ? false : { ...tls },
    application_name: 'trivet',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    stream: () => socket,
    ...!target.isPooled && { options: STARTUP_LIMITS }
  })
  const connection = new PostgresConnection(target, client, socket, () => connectSocket(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  ))
  try {
    await client.connect()
    return connection
  } catch (error) {
    socket.destroy()
    throw error
  }
}
