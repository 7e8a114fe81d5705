// Due times in LMDB. Processes that share the folder share them.

import type { Database } from 'lmdb'
import type { DueTimes } from '../../records/due-times.ts'
import { fromNumbers } from './record.ts'
import type { Transactions } from './transactions.ts'

/** `['entry', name]` has the time of an entry. `['time', time, name]` finds the entries of a time. */
export type DueKey = ['entry', string] | ['time', number, string]

interface DueTimesDependencies {
  readonly times: Database<Buffer, DueKey>
  readonly transactions: Transactions
  now (): number
}

const NOTHING = Buffer.alloc(0)

export function createLmdbDueTimes ({ times, transactions, now }: DueTimesDependencies): DueTimes {
  function remove (entry: string): void {
    const time = times.get(['entry', entry])?.readDoubleBE(0)
    if (time === undefined) return
    times.remove(['entry', entry])
    times.remove(['time', time, entry])
  }

  function put (entry: string, time: number): void {
    remove(entry)
    times.put(['entry', entry], fromNumbers(time))
    times.put(['time', time, entry], NOTHING)
  }

  function find (
    limit: number, until = Infinity
  ): ReadonlyArray<{ readonly time: number, readonly entry: string }> {
    const range = times.getKeys({ start: ['time', 0, ''], end: ['time', until, '\uffff'], limit })
    return [...range].flatMap(([kind, time, entry]) => kind === 'time' ? [{ time, entry }] : [])
  }

  async function write<T> (work: () => T): Promise<T> {
    transactions.assertOpen()
    return await transactions.write(work)
  }

  return {
    set: async (entry, inMs) => await write(() => put(entry, now() + inMs)),
    remove: async (entry) => await write(() => remove(entry)),
    async take (limit, holdMs) {
      const [first] = transactions.read(() => find(1))
      // Most calls find nothing that is due. They write nothing.
      if (first === undefined || first.time > now()) return toTaken([], first?.time, now())
      return await write(() => {
        const time = now()
        const entries = find(limit, time).map(({ entry }) => entry)
        for (const entry of entries) put(entry, time + holdMs)
        return toTaken(entries, find(1)[0]?.time, time)
      })
    }
  }
}

function toTaken (entries: readonly string[], next: number | undefined, time: number) {
  return { entries, nextInMs: next === undefined ? undefined : Math.max(0, next - time) }
}
