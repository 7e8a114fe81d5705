// Due times in LMDB. Processes that share the folder share them.

import type { Database } from 'lmdb'
import { readAfter, toDuePage, toTaken, type DueEntry, type DueTimes } from '../../records/due-times.ts'
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
    const { at } = read(entry)
    if (at === Infinity) return
    times.remove(['entry', entry])
    times.remove(['time', at, entry])
  }

  function put (entry: string, time: number, generation: number): void {
    remove(entry)
    times.put(['entry', entry], fromNumbers(time, generation))
    times.put(['time', time, entry], NOTHING)
  }

  /** Entries of earlier releases have no generation. */
  function read (entry: string): { readonly at: number, readonly generation: number } {
    const bytes = times.get(['entry', entry])
    if (bytes === undefined) return { at: Infinity, generation: 0 }
    const generation = bytes.length < TWO_NUMBERS ? 0 : bytes.readDoubleBE(TWO_NUMBERS / 2)
    return { at: bytes.readDoubleBE(0), generation }
  }

  function find (
    limit: number, until = Infinity
  ): ReadonlyArray<{ readonly time: number, readonly entry: string }> {
    const range = times.getKeys({ start: ['time', 0, ''], end: ['time', until, '\uffff'], limit })
    return [...range].flatMap(([kind, time, entry]) => kind === 'time' ? [{ time, entry }] : [])
  }

  function toEntry (entry: string): DueEntry {
    const { at, generation } = read(entry)
    return { entry, inMs: at - now(), generation }
  }

  async function write<T> (work: () => T): Promise<T> {
    transactions.assertOpen()
    return await transactions.write(work)
  }

  return {
    set: async (entry, inMs, generation, lateMs = inMs) => await write(() => {
      const time = now()
      const present = read(entry)
      const isLate = present.generation > generation
      const at = time + (isLate ? lateMs : inMs)
      if (!isLate) put(entry, at, generation)
      else if (at < present.at) put(entry, at, present.generation)
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
        for (const entry of entries) put(entry, time + holdMs, read(entry).generation)
        return toTaken(entries, find(1)[0]?.time, time)
      })
    },
    peek: async (limit, withinMs) => transactions.read(
      () => find(limit, now() + withinMs).map(({ entry }) => toEntry(entry))
    ),
    async list (from, limit) {
      const last = readAfter(from)
      return transactions.read(() => {
        const range = times.getKeys({
          start: ['entry', last],
          exclusiveStart: last !== '',
          end: ['time', 0, ''],
          limit: limit + 1
        })
        return toDuePage([...range].flatMap(([kind, name]) => kind === 'entry' ? [toEntry(name)] : []), limit)
      })
    }
  }
}
