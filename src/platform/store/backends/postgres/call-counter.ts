// The call counter of all replicas, in PostgreSQL.

import { PARTS, type CallCounter, type CountedRate } from '../../../limits/call-counter.ts'
import type { LocalCallCounter } from '../../../limits/local-call-counter.ts'
import { COUNT_MS, createSharedCallCounter, toSharedKey, type UsedPlace } from '../shared-call-counter.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import { throwPostgresError } from './postgres-error.ts'
import type { SchemaNames } from './schema/schema.ts'
import { readNumber, toStatement, type StatementRunner } from './statement.ts'

interface PostgresCallCounterOptions {
  readonly names: SchemaNames
  /** Counts while PostgreSQL does not. */
  readonly local: LocalCallCounter
  /** How long a call may wait for its count, in milliseconds. 300 by default. */
  readonly deadlineMs?: number
  /** Called with each error of PostgreSQL. */
  onError (error: unknown): void
}

interface CountedCall extends Waiter<UsedPlace | undefined> { readonly rates: readonly CountedRate[] }

export function createPostgresCallCounter (
  runner: StatementRunner, { names, local, deadlineMs = COUNT_MS, onError }: PostgresCallCounterOptions
): CallCounter {
  // A whole number: a role may have few digits of others.
  const statement = toStatement(`
    SELECT call, place, ceil(wait_ms)::bigint FROM ${names.countCalls}($1, $2, $3, $4)
  `)

  // One statement at a time: the calls of one replica would wait for each other on the server.
  const ask = gatherInOrder<CountedCall>(async (calls, waitedMs) => {
    const rates = calls.flatMap((call, index) => call.rates.map((rate) => ({ rate, call: index + 1 })))
    const rows = await runner.run(statement, [
      rates.map(({ call }) => call), rates.map(({ rate }) => toSharedKey(rate)),
      rates.map(({ rate }) => rate.calls), rates.map(({ rate }) => rate.perMs / PARTS)
    ], { timeoutMs: deadlineMs, waitedMs })
    const used = new Map(rows.map(([call, place, waitMs]) => (
      [readNumber(call), { place: readNumber(place), waitMs: readNumber(waitMs) }]
    )))
    for (const [index, { resolve }] of calls.entries()) resolve(used.get(index + 1))
  }, { deadlineMs })

  return createSharedCallCounter({
    local,
    onError,
    ask: async (rates) => await new Promise<UsedPlace | undefined>((resolve, reject) => {
      ask({ rates, resolve, reject })
    }).catch(throwPostgresError)
  })
}
