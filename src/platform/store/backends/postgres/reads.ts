// The reads of records. Those of one turn of the event loop share a statement.

import { clock, timers } from '../../../../base/time.ts'
import type { StateKey, StateRecord } from '../../records/state-store.ts'
import { gatherInOrder, gatherTurns, type Waiter } from './gather.ts'
import { hasCode, PostgresError } from './postgres-error.ts'
import type { RecordStatements } from './record-statements.ts'
import { readNumber, readText, type AnswerRow, type StatementRunner } from './statement.ts'

interface Read extends Waiter<StateRecord | undefined> {
  readonly key: StateKey
  /** How often it found the record held. */
  readonly tried: number
}

/** Resolves to the new expiry, or to undefined if somebody else holds the record. */
interface Use extends Waiter<number | undefined> { readonly key: StateKey }

/** A read whose record must be extended rejects after this time, in milliseconds. */
const EXTENSION_TIMEOUT_MS = 1400
/** After somebody was found to lock the whole table, no use waits for that lock for this time. */
const LOCKED_FOR_MS = 1000
/** A record with little time left is read again after these times: another replica holds it for a moment. */
const RETRY_MS = [30, 70, 200]

export function createReads (runner: StatementRunner, statements: RecordStatements) {
  let lockedUntil = 0

  const ask = gatherTurns<Read>((reads) => {
    const readsById = new Map<string, Read[]>()
    for (const read of reads) {
      // Neither has a slash in the owner.
      const id = `${read.key.owner}/${read.key.name}`
      const group = readsById.get(id)
      if (group === undefined) readsById.set(id, [read])
      else group.push(read)
    }
    answer([...readsById.values()]).catch((error: unknown) => {
      for (const { reject } of reads) reject(error)
    })
  })

  /** @param groups the reads of each record. */
  async function answer (groups: ReadonlyArray<readonly Read[]>): Promise<void> {
    const keys = groups.flatMap(([first]) => first === undefined ? [] : [first.key])
    const rows = new Map<number, AnswerRow>()
    for (const row of await runner.run(statements.read, toArrays(keys))) rows.set(readNumber(row[0]), row)
    for (const [index, group] of groups.entries()) {
      const row = rows.get(index + 1)
      const record = row && readRecord(row)
      if (row === undefined || record === undefined || row[4] !== true) {
        for (const { resolve } of group) resolve(record)
      } else {
        use(group, record, row[5] === true).catch((error: unknown) => {
          for (const { reject } of group) reject(error)
        })
      }
    }
  }

  /** The answer waits for the extension: a use is as durable as other writes. */
  async function use (reads: readonly Read[], record: StateRecord, isUrgent: boolean): Promise<void> {
    const [first] = reads
    if (first === undefined) return
    const extending = new Promise<number | undefined>((resolve, reject) => {
      extend({ key: first.key, resolve, reject })
    })
    const expiresAt = await extending
    if (expiresAt !== undefined) {
      for (const { resolve } of reads) resolve({ ...record, expiresAt })
      return
    }
    // The next use extends it. One that has little time left would expire although it is used.
    for (const read of reads) {
      if (isUrgent) tryAgain(read)
      else read.resolve(record)
    }
  }

  function tryAgain (read: Read): void {
    const ms = RETRY_MS[read.tried]
    if (ms === undefined) read.reject(new PostgresError('somebody holds a record that expires soon'))
    else timers.setTimeout(() => { ask({ ...read, tried: read.tried + 1 }) }, ms)
  }

  // One statement at a time: if it must wait for a lock or for a standby, the other connections stay free.
  const extend = gatherInOrder<Use>(async (uses, waitedMs) => {
    const expiries = clock.monotonic() < lockedUntil ? [] : await writeUses(uses, waitedMs)
    const places = new Map(expiries.map(([place, expiry]) => [readNumber(place), readNumber(expiry)]))
    for (const [index, { resolve }] of uses.entries()) resolve(places.get(index + 1))
  }, { deadlineMs: EXTENSION_TIMEOUT_MS })

  async function writeUses (uses: readonly Use[], waitedMs: number): Promise<readonly AnswerRow[]> {
    try {
      return await runner.run(statements.extend, toArrays(uses.map(({ key }) => key)), { waitedMs })
    } catch (error) {
      if (!hasCode(error, '55P03')) throw error
      lockedUntil = clock.monotonic() + LOCKED_FOR_MS
      return []
    }
  }

  return {
    read: async (key: StateKey) => await new Promise<StateRecord | undefined>((resolve, reject) => {
      ask({ key, tried: 0, resolve, reject })
    })
  }
}

const toArrays = (keys: readonly StateKey[]) => [keys.map(({ owner }) => owner), keys.map(({ name }) => name)]

/** Reads a row that begins with place, value, version and expiry. */
export function readRecord ([, bytes, version, expiresAt]: AnswerRow): StateRecord {
  if (!Buffer.isBuffer(bytes)) throw new TypeError('the answer of PostgreSQL is no record')
  return { value: { bytes }, version: readText(version), expiresAt: readNumber(expiresAt) }
}
