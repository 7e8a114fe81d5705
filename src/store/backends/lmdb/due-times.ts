// Due times in LMDB. Processes that share the folder share them.

import type { Database } from 'lmdb'
import type { DueTimes, TakenEntries } from '../../records/due-times.ts'
import type { DueKey } from './folder.ts'
import { fromNumbers } from './record.ts'
import type { Transactions } from './transactions.ts'

interface DueTimesDependencies {
  readonly times: Database<Buffer, DueKey>
  readonly transactions: Transactions
  now (): number
}

const NOTHING = Buffer.alloc(0)
/** The length of an entry's value, in bytes. */
const TWO_NUMBERS = 16

export function createLmdbDueTimes ({ times, transactions, now }: DueTimesDependencies): DueTimes {
  function remove (entry: string): void {
    const time = times.get(['entry', entry])?.readDoubleBE(0)
    if (time === undefined) return
    times.remove(['entry', entry])
    times.remove(['time', time, entry])
  }

  function put (entry: string, time: number, generation: number): void {
    remove(entry)
    times.put(['entry', entry], fromNumbers(time, generation))
    times.put(['time', time, entry], NOTHING)
  }

  /** Entries of earlier releases have no generation. */
  function generationOf (entry: string): number {
    const bytes = times.get(['entry', entry])
    return bytes === undefined || bytes.length < TWO_NUMBERS ? 0 : bytes.readDoubleBE(TWO_NUMBERS / 2)
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
    set: async (entry, inMs, generation) => await write(() => {
      const time = now()
      if (generationOf(entry) <= generation) put(entry, time + inMs, generation)
      return time
    }),
    remove: async (entry) => await write(() => remove(entry)),
    async take (limit, holdMs) {
      const [first] = transactions.read(() => find(1))
      // Most calls find nothing that is due. They write nothing.
      if (first === undefined || first.time > now()) return toTaken([], first?.time, now())
      return await write(() => {
        const time = now()
        const entries = find(limit, time).map(({ entry }) => entry)
        for (const entry of entries) put(entry, time + holdMs, generationOf(entry))
        return toTaken(entries, find(1)[0]?.time, time)
      })
    }
  }
}

function toTaken (entries: readonly string[], next: number | undefined, now: number): TakenEntries {
  return { entries, nextInMs: next === undefined ? undefined : Math.max(0, next - now), now }
}
