// The replacements of records. Those of one turn of the event loop share a statement and its commit.

import { random } from '../../../base/time.ts'
import type { RecordLifetime, StateKey, StateRecord, StateValue } from '../../records/state-store.ts'
import { gatherTurns, type Waiter } from './gather.ts'
import type { RecordStatements } from './record-statements.ts'
import { readNumber, type StatementRunner } from './statement.ts'

interface Replacement extends Waiter<StateRecord | undefined> {
  readonly key: StateKey
  readonly version: string
  readonly value: StateValue
  readonly next: string
  readonly idleMs: number | null
  readonly endsAt: number | null
}

/** A larger value goes alone, in bytes: an array of values is sent as text. */
const MAX_SHARED_BYTES = 16_384

export function createReplacements (runner: StatementRunner, statements: RecordStatements) {
  const ask = gatherTurns<Replacement>((replacements) => {
    const shared = new Map<string, Replacement>()
    const alone: Replacement[] = []
    for (const one of replacements) {
      const id = `${one.key.owner}/${one.key.name}`
      // A statement cannot change a row twice.
      if (shared.has(id) || one.value.bytes.length > MAX_SHARED_BYTES) alone.push(one)
      else shared.set(id, one)
    }
    const [first, second] = shared.values()
    if (first !== undefined && second === undefined) alone.push(first)
    else if (first !== undefined) replaceMany([...shared.values()])
    for (const one of alone) replaceAlone(one)
  })

  function replaceAlone (one: Replacement): void {
    const { key: { owner, name }, version, value, next, idleMs, endsAt } = one
    const values = [owner, name, version, value.bytes, next, idleMs, endsAt]
    runner.run(statements.replace, values).then(([row]) => {
      one.resolve(toRecord(one, row?.[0]))
    }).catch(one.reject)
  }

  function replaceMany (all: readonly Replacement[]): void {
    runner.run(statements.replaceMany, [
      all.map(({ key }) => key.owner), all.map(({ key }) => key.name), all.map(({ version }) => version),
      all.map(({ value }) => value.bytes), all.map(({ next }) => next), all.map(({ idleMs }) => idleMs),
      all.map(({ endsAt }) => endsAt)
    ]).then((rows) => {
      const expiries = new Map(rows.map(([place, expiry]) => [Number(place), expiry]))
      for (const [index, one] of all.entries()) {
        const expiry = expiries.get(index + 1)
        // Another transaction holds the record, and this one waits for it.
        if (expiry === null) replaceAlone(one)
        else one.resolve(toRecord(one, expiry))
      }
    }).catch((error: unknown) => { for (const { reject } of all) reject(error) })
  }

  return {
    replace: async (
      key: StateKey, version: string, value: StateValue, lifetime?: RecordLifetime
    ) => await new Promise<StateRecord | undefined>((resolve, reject) => {
      const { idleMs, endsAt } = lifetime ?? {}
      ask({
        key,
        version,
        value,
        // Random, so that a new record never has the version of a deleted one.
        next: random.uuid(),
        idleMs: idleMs === undefined ? null : Math.ceil(idleMs),
        endsAt: endsAt === undefined ? null : Math.floor(endsAt),
        resolve,
        reject
      })
    })
  }
}

function toRecord ({ value, next }: Replacement, expiry: unknown): StateRecord | undefined {
  if (expiry === null || expiry === undefined) return undefined
  return { value, version: next, expiresAt: readNumber(expiry) }
}
