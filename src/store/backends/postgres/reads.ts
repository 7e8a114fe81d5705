// The reads of records. Those of one turn of the event loop share a statement.

import type { StateKey, StateRecord } from '../../records/state-store.ts'
import { gatherTurns, type Waiter } from './gather.ts'
import type { RecordStatements } from './record-statements.ts'
import { readNumber, readText, type AnswerRow, type StatementRunner } from './statement.ts'

interface Read extends Waiter<StateRecord | undefined> { readonly key: StateKey }

export function createReads (runner: StatementRunner, statements: RecordStatements) {
  const ask = gatherTurns<Read>((reads) => {
    const asked = new Map<string, Read[]>()
    for (const read of reads) {
      // Neither has a slash in the owner.
      const id = `${read.key.owner}/${read.key.name}`
      const same = asked.get(id)
      if (same === undefined) asked.set(id, [read])
      else same.push(read)
    }
    answer([...asked.values()]).catch((error: unknown) => { for (const { reject } of reads) reject(error) })
  })

  async function answer (asked: ReadonlyArray<readonly Read[]>): Promise<void> {
    const keys = asked.flatMap(([first]) => first === undefined ? [] : [first.key])
    const rows = await runner.run(
      statements.read, [keys.map(({ owner }) => owner), keys.map(({ name }) => name)]
    )
    const records = new Map(rows.map((row) => [readNumber(row[0]), readRecord(row)]))
    for (const [index, same] of asked.entries()) {
      for (const { resolve } of same) resolve(records.get(index + 1))
    }
  }

  return {
    read: async (key: StateKey) => await new Promise<StateRecord | undefined>((resolve, reject) => {
      ask({ key, resolve, reject })
    })
  }
}

/** Reads a row of place, value, version and expiry. */
export function readRecord ([, bytes, version, expiresAt]: AnswerRow): StateRecord {
  if (!Buffer.isBuffer(bytes)) throw new TypeError('the answer of PostgreSQL is no record')
  return { value: { bytes }, version: readText(version), expiresAt: readNumber(expiresAt) }
}
