// A bounded number of connections. Statements wait for one of them, for a bounded time and in bounded number.

import { BoundedQueue } from '../../../../../base/bounded-queue.ts'
import { clock, random, timers, type Timer } from '../../../../../base/time.ts'
import { AnswerTime, ANSWER_MS } from '../../answer-time.ts'
import { connect, type PostgresTarget } from './connection.ts'
import { hasCode, PostgresError, toPostgresError } from '../postgres-error.ts'
import type { Connection } from './postgres-connection.ts'
import type { AnswerRow, Statement, StatementRunner, StatementTime } from '../statement.ts'

const MAX_WAITING = 5000
/** An idle connection is closed after this time: other replicas of the role may need it. */
const IDLE_MS = 30_000
/** The longest pause after a failed attempt to connect. Random: all replicas lose their connections. */
const RETRY_MS = 300

interface PoolOptions {
  /** How many connections there may be. */
  readonly size: number
  /** How long a connection may be idle, in milliseconds. 30,000 by default. */
  readonly idleMs?: number
  /** Called after each failed attempt to connect, and for each statement without an answer. */
  onError (error: PostgresError): void
}

interface IdleConnection {
  readonly connection: Connection
  readonly since: number
}

interface Job {
  readonly statement: Statement
  readonly values: unknown[]
  /** Whether a missing answer shortens the time of the next ones. */
  readonly isFull: boolean
  timer: Timer | undefined
  connection: Connection | undefined
  isSettled: boolean
  settle (error: PostgresError | undefined, rows: readonly AnswerRow[]): void
}

export class Pool implements StatementRunner {
  readonly #target: PostgresTarget
  readonly #options: PoolOptions
  readonly #open = new Set<Connection>()
  /** The connections that have answered a statement. */
  readonly #proven = new WeakSet<Connection>()
  /** The one that ran a statement last is the last. It is taken first, so that the others can be closed. */
  readonly #idle: IdleConnection[] = []
  #idleTimer: Timer | undefined
  readonly #waiting = new BoundedQueue<Job>({ maxSize: MAX_WAITING })
  #connecting = 0
  /** The wait for a connection is a part of it. */
  readonly #time = new AnswerTime()
  #retryAt = 0
  #lastError = new PostgresError('PostgreSQL is not connected')
  #isClosed = false

  constructor (target: PostgresTarget, options: PoolOptions) {
    this.#target = target
    this.#options = options
  }

  async run (
    statement: Statement, values: unknown[] = [], { timeoutMs = Infinity, waitedMs = 0 }: StatementTime = {}
  ): Promise<readonly AnswerRow[]> {
    if (this.#isClosed) throw new PostgresError('the connections to PostgreSQL are closed')
    const limitMs = Math.min(timeoutMs, this.#time.ms)
    const ms = Math.ceil(limitMs - waitedMs)
    if (ms <= 0) throw new PostgresError(`PostgreSQL was not asked within ${limitMs} ms`)
    return await new Promise<readonly AnswerRow[]>((resolve, reject) => {
      const job: Job = {
        statement,
        values,
        // One with a shorter deadline of its own may be late on a server that works.
        isFull: limitMs >= ANSWER_MS,
        timer: undefined,
        connection: undefined,
        isSettled: false,
        settle (error, rows) {
          if (job.isSettled) return
          job.isSettled = true
          timers.clear(job.timer)
          if (error === undefined) resolve(rows)
          else reject(error)
        }
      }
      if (!this.#waiting.add(job)) {
        return reject(new PostgresError(`${MAX_WAITING} statements wait for a connection to PostgreSQL`))
      }
      // After the turn of the event loop that reads sockets: a busy process may have the answer already.
      job.timer = timers.setTimeout(() => { setImmediate(() => { this.#expire(job, ms) }) }, ms)
      this.#pump()
    })
  }

  /** Idempotent. Statements without an answer reject. */
  async close (): Promise<void> {
    this.#isClosed = true
    this.#refuse(new PostgresError('the connections to PostgreSQL are closed'))
    timers.clear(this.#idleTimer)
    const idle = new Set(this.#idle.splice(0).map(({ connection }) => connection))
    for (const connection of this.#open) if (!idle.has(connection)) connection.destroy()
    await Promise.all([...idle].map(async (connection) => await connection.close()))
  }

  #pump (): void {
    for (const [job] of this.#waiting) {
      const connection = this.#takeIdle()
      if (connection === undefined) break
      this.#waiting.delete(job)
      this.#begin(job, connection)
    }
    if (this.#waiting.size === 0) return
    if (clock.monotonic() < this.#retryAt) return this.#refuseWithoutConnections()
    while (
      this.#connecting < this.#waiting.size && this.#open.size + this.#connecting < this.#options.size
    ) this.#connect()
  }

  #takeIdle (): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop()?.connection
      if (connection === undefined || connection.isOpen) return connection
    }
  }

  #connect (): void {
    this.#connecting++
    connect(this.#target).then((connection) => {
      this.#connecting--
      if (this.#isClosed) return connection.destroy()
      this.#retryAt = 0
      this.#open.add(connection)
      connection.onEnd(() => {
        this.#open.delete(connection)
        this.#pump()
      })
      this.#release(connection)
    }, (error: unknown) => {
      this.#connecting--
      this.#lastError = toPostgresError(error)
      this.#retryAt = clock.monotonic() + RETRY_MS * (1 - random.number() / 2)
      this.#options.onError(this.#lastError)
      this.#refuseWithoutConnections()
    })
  }

  #begin (job: Job, connection: Connection): void {
    job.connection = connection
    connection.run(job.statement, job.values).then((rows) => {
      this.#time.noteAnswer()
      this.#proven.add(connection)
      job.settle(undefined, rows)
      this.#release(connection)
    }, (error: unknown) => {
      job.settle(toPostgresError(error), [])
      // Another host may take writes by now.
      if (hasCode(error, '25006')) connection.destroy()
      this.#release(connection)
    })
  }

  #release (connection: Connection): void {
    if (connection.isOpen) this.#idle.push({ connection, since: clock.monotonic() })
    this.#pump()
    this.#watchIdle()
  }

  #watchIdle (): void {
    const [oldest] = this.#idle
    if (this.#idleTimer !== undefined || oldest === undefined || this.#isClosed) return
    const { idleMs = IDLE_MS } = this.#options
    this.#idleTimer = timers.setTimeout(() => {
      this.#idleTimer = undefined
      const longAgo = clock.monotonic() - idleMs
      while (this.#idle[0] !== undefined && this.#idle[0].since <= longAgo) {
        this.#idle.shift()?.connection.close().catch(this.#options.onError)
      }
      this.#watchIdle()
    }, Math.max(oldest.since + idleMs - clock.monotonic(), 1)).unref()
  }

  #expire (job: Job, ms: number): void {
    if (job.isSettled) return
    const { connection } = job
    // A new connection has used most of the time of its first statement, and may answer it late.
    const isNew = connection !== undefined && !this.#proven.has(connection)
    // A connection that takes long to open says nothing of the server while others are open.
    const isSilent = connection === undefined ? this.#open.size === 0 : !isNew
    if (job.isFull && isSilent) this.#time.noteSilence()
    this.#waiting.delete(job)
    const problem = connection === undefined ? 'had no connection' : 'did not answer'
    const error = new PostgresError(`PostgreSQL ${problem} within ${ms} ms`)
    job.settle(error, [])
    this.#options.onError(error)
    if (isNew) this.#expectLateAnswer(connection)
    else connection?.destroy()
  }

  /** To open another connection takes as long again. Over one that has answered, statements are in time. */
  #expectLateAnswer (connection: Connection): void {
    timers.setTimeout(() => {
      if (!this.#proven.has(connection)) connection.destroy()
    }, ANSWER_MS).unref()
  }

  /** Without a connection nobody serves those that wait. With one, they wait for it. */
  #refuseWithoutConnections (): void {
    if (this.#open.size === 0 && this.#connecting === 0) this.#refuse(this.#lastError)
  }

  #refuse (error: PostgresError): void {
    for (const job of this.#waiting.clear()) job.settle(error, [])
  }
}
