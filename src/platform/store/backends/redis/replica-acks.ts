// Waits until a replica of Redis has what was written. Redis answers before its replicas have a write, and a
// failover to a replica loses what the replica does not have.

import { clock } from '../../../../base/time.ts'
import { MARK, runScript, type CommandRunner, type ScriptRunner } from './scripts.ts'

interface Replicated extends CommandRunner, ScriptRunner {
  on (event: 'close', listener: () => void): unknown
}

/** Other commands of the connection wait as long. A replica near its master needs a millisecond. */
const WAIT_MS = 500
/** How long it counts that Redis has no replicas and is the master, in milliseconds. */
const ALONE_MS = 1000
/** A replica that says nothing for longer does not count. The default of `min-replicas-max-lag`. */
const MAX_LAG_SECONDS = 10
/** The offset is 0 while a new replica loads what the master had before. */
const ONLINE = /^slave\d+:.*\bstate=online,offset=[1-9]\d*,lag=(\d+)/gm
/** How long the key of a mark is kept, in milliseconds. */
const MARK_MS = 60_000

export class ReplicaAcks {
  readonly #client: Replicated
  readonly #markKey: string
  readonly #isNamed: () => Promise<boolean>
  #connection = 0
  #aloneUntil = -Infinity
  #isMarkNeeded = false
  #next: Promise<void> | undefined

  /**
   * @param client a connection to one master, for all commands that are to be confirmed.
   * @param prefix begins the name of every key.
   * @param isNamed whether the Sentinels name the server of the connection as the master. Asked when it has
   *   no replicas: they may be those of another master by now.
   */
  constructor (client: Replicated, prefix: string, isNamed: () => Promise<boolean>) {
    this.#client = client
    this.#isNamed = isNamed
    // The braces keep the key apart from those of records, whose braces hold an owner.
    this.#markKey = `${prefix}:{acks}:mark`
    client.on('close', () => { this.#connection++ })
  }

  /**
   * Call it when a command was answered. Resolves when one replica has all that Redis wrote until then, or if
   * Redis has no replicas and is the master. Rejects if no replica has it in time.
   *
   * @param hasWritten whether the command wrote. What it found may be the write of another connection.
   */
  async confirm (hasWritten: boolean): Promise<void> {
    const answeredBy = this.#connection
    if (!hasWritten) this.#isMarkNeeded = true
    // In the next turn, so that all commands that are answered in this one share a WAIT.
    this.#next ??= new Promise<void>((resolve) => { setImmediate(resolve) }).then(() => this.#wait())
    await this.#next
    // WAIT means the writes of its own connection.
    if (this.#connection !== answeredBy) {
      throw new Error('the connection to Redis was lost before a replica had the write')
    }
  }

  async #wait (): Promise<void> {
    const isMarkNeeded = this.#isMarkNeeded
    this.#next = undefined
    this.#isMarkNeeded = false
    if (clock.monotonic() < this.#aloneUntil) return
    // WAIT means the last write of its connection, and all that Redis wrote before that one.
    if (isMarkNeeded) await runScript(this.#client, MARK, [this.#markKey], [MARK_MS])
    if (Number(await this.#client.call('WAIT', 1, WAIT_MS)) > 0) return
    const info = String(await this.#client.call('INFO', 'replication'))
    const lags = Array.from(info.matchAll(ONLINE), ([, lag]) => Number(lag))
    const online = lags.filter((lag) => lag <= MAX_LAG_SECONDS).length
    if (online > 0) {
      throw new Error(`none of the ${online} replicas of Redis has the write after ${WAIT_MS} ms`)
    }
    const askedAt = clock.monotonic()
    if (!await this.#isNamed()) {
      throw new Error('this Redis has no replicas, and too few Sentinels name it as the master and reach it')
    }
    this.#aloneUntil = askedAt + ALONE_MS
  }
}
