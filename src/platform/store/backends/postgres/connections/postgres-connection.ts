// One connection: what it runs, and how it ends.

import type { Socket } from 'node:net'
import type { Client, QueryArrayConfig } from 'pg'
import { timers } from '../../../../../base/time.ts'
import { hasCode, PostgresError } from '../postgres-error.ts'
import type { AnswerRow, Statement, StatementRunner } from '../statement.ts'

/** What connections have learnt about a pooler. */
export interface PoolerTraits {
  /** Whether settings of a session are lost: a pooler gives each transaction any connection. */
  isPooled: boolean
  /** Whether statements may have names. */
  isPrepared: boolean
  /** Called once for each restriction that a pooler brings, with a sentence for the log. */
  onRestriction (problem: string): void
}

export interface Connection extends StatementRunner {
  readonly isOpen: boolean
  /** Runs statements without values. Resolves to the rows if it is a single one. */
  runText (text: string): Promise<readonly AnswerRow[]>
  /** Calls the listener with the payload of each notification. */
  onNotification (listener: (payload: string) => void): void
  /** Calls the listener once, when the connection has ended. */
  onEnd (listener: () => void): void
  /** Ends the connection now, and what it runs on the server. */
  destroy (): void
  /** Ends the connection after what it runs. */
  close (): Promise<void>
}

/** The service gives up a statement after 1,400 ms. The server does so before. */
const LIMITS = [
  ['statement_timeout', '1300'],
  ['lock_timeout', '1001'],
  ['idle_in_transaction_session_timeout', '1300'],
  // A higher level hides that a commit did not wait for its standby.
  ['client_min_messages', 'warning'],
  // An array of a statement has NULL for what is absent.
  ['array_nulls', 'on']
] as const
/** The server spells the limit of locks so. Only this client sets it: a session with it kept its limits. */
export const OWN_LOCK_TIMEOUT = '1001ms'
/** The statements rely on it: each one sees what was committed before it began. */
const ISOLATION = 'read committed'
/** For the start of a session. */
export const STARTUP_LIMITS = [...LIMITS, ['default_transaction_isolation', ISOLATION.replace(' ', '\\ ')]]
  .map(([name, value]) => `-c ${name}=${value}`).join(' ')
const BEGIN = [
  `BEGIN ISOLATION LEVEL ${ISOLATION}`, ...LIMITS.map(([name, value]) => `SET LOCAL ${name} = ${value}`)
].join('; ')
/** The function of the server that tells that a commit did not wait for its standby. */
const UNCONFIRMED = 'SyncRepWaitForLSN'
const CANCEL_TIMEOUT_MS = 1000
const DISCONNECT_TIMEOUT_MS = 200
const CANCEL_REQUEST = 80_877_102
/** A named statement is on another connection of a pooler. Nothing was done. */
const isLostStatement = (error: unknown) => hasCode(error, '26000', '42P05')

type AnyStatement = Pick<Statement, 'text'> & Partial<Statement>

interface BackendKey { readonly processID: number, readonly secretKey: number }

export class PostgresConnection implements Connection {
  readonly #traits: PoolerTraits
  readonly #client: Client
  readonly #socket: Socket
  readonly #openSocket: () => Socket
  #key: BackendKey | undefined
  #running = 0
  #isOpen = true
  #isUnconfirmed = false

  /**
   * @param socket the one of the client.
   * @param openSocket connects to the same server.
   */
  constructor (traits: PoolerTraits, client: Client, socket: Socket, openSocket: () => Socket) {
    this.#traits = traits
    this.#client = client
    this.#socket = socket
    this.#openSocket = openSocket
    client.connection.on('backendKeyData', (key: BackendKey) => { this.#key = key })
    client.on('notice', ({ routine }) => { if (routine === UNCONFIRMED) this.#isUnconfirmed = true })
    // Without a listener the process ends. What runs rejects with the error.
    client.on('error', () => { this.#isOpen = false })
    socket.once('close', () => { this.#isOpen = false })
  }

  get isOpen (): boolean { return this.#isOpen }

  onNotification (listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
  }

  onEnd (listener: () => void): void { this.#socket.once('close', listener) }

  async runText (text: string): Promise<readonly AnswerRow[]> {
    return await this.#query({ text })
  }

  async run (statement: Statement, values: unknown[] = []): Promise<readonly AnswerRow[]> {
    const { isPrepared } = this.#traits
    try {
      return await this.#runOnce(isPrepared ? statement : { text: statement.text }, values)
    } catch (error) {
      if (!isPrepared || !isLostStatement(error)) throw error
      this.#forgetNames()
      return await this.#runOnce({ text: statement.text }, values)
    }
  }

  destroy (): void {
    if (this.#isOpen && this.#running > 0) this.#cancel()
    this.#isOpen = false
    this.#socket.destroy()
  }

  async close (): Promise<void> {
    this.#isOpen = false
    // A server that hangs does not answer.
    const timer = timers.setTimeout(() => { this.#socket.destroy() }, DISCONNECT_TIMEOUT_MS)
    await this.#client.end().catch(() => {})
    timers.clear(timer)
  }

  #forgetNames (): void {
    if (!this.#traits.isPrepared) return
    this.#traits.isPrepared = false
    this.#traits.onRestriction('a pooler does not keep prepared statements: statements are parsed each time')
  }

  async #runOnce (statement: AnyStatement, values: unknown[]): Promise<readonly AnswerRow[]> {
    if (!this.#traits.isPooled) return await this.#query(statement, values)
    await this.#query({ text: BEGIN })
    try {
      const rows = await this.#query(statement, values)
      await this.#query({ text: 'COMMIT' })
      return rows
    } catch (error) {
      if (this.#isOpen) await this.#query({ text: 'ROLLBACK' })
      throw error
    }
  }

  async #query (statement: AnyStatement, values?: unknown[]): Promise<readonly AnswerRow[]> {
    this.#running++
    try {
      const query: QueryArrayConfig = { ...statement, rowMode: 'array' }
      if (values !== undefined) query.values = values
      const result = await this.#client.query<unknown[]>(query)
      if (this.#isUnconfirmed) throw new PostgresError('the standby did not confirm the commit')
      // Several statements in one text have a result each.
      return Array.isArray(result) ? [] : result.rows
    } finally {
      this.#running--
      this.#isUnconfirmed = false
    }
  }

  /**
   * Without it, the server would go on with the statement, and hold its connection: it may wait for a lock,
   * or for a standby. The secret key is of no use to others: it ends with the connection.
   */
  #cancel (): void {
    if (this.#key === undefined) return
    const request = Buffer.alloc(16)
    request.writeInt32BE(16, 0)
    request.writeInt32BE(CANCEL_REQUEST, 4)
    request.writeInt32BE(this.#key.processID, 8)
    request.writeInt32BE(this.#key.secretKey, 12)
    const socket = this.#openSocket()
    socket.on('error', () => {}).setTimeout(CANCEL_TIMEOUT_MS, () => { socket.destroy() })
    socket.once('connect', () => { socket.end(request) }).unref()
  }
}
