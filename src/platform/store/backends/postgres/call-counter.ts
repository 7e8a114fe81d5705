// The call counter of all replicas. While PostgreSQL is away, each replica counts its own calls: those that
// PostgreSQL admitted count too, so a replica never admits more than the rate.

import { hash } from 'node:crypto'
import { PARTS, type CallCounter, type CountedRate, type UsedRate } from '../../../limits/call-counter.ts'
import type { LocalCallCounter } from '../../../limits/local-call-counter.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import { toPostgresError } from './postgres-error.ts'
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

interface UsedPlace { readonly place: number, readonly waitMs: number }

/**
 * Much shorter than the timeout of a statement: the tool may then wait for its state, and fails within two
 * seconds all the same.
 */
const DEADLINE_MS = 300

export function createPostgresCallCounter (
  runner: StatementRunner, { names, local, deadlineMs = DEADLINE_MS, onError }: PostgresCallCounterOptions
): CallCounter {
  // A whole number: a role may have few digits of others.
  const statement = toStatement(`
    SELECT call, place, ceil(wait_ms)::bigint FROM ${names.countCalls}($1, $2, $3, $4)
  `)

  // One statement at a time: the calls of one replica would wait for each other on the server.
  const ask = gatherInOrder<CountedCall>(async (calls, waitedMs) => {
    const rates = calls.flatMap((call, index) => call.rates.map((rate) => ({ rate, call: index + 1 })))
    const rows = await runner.run(statement, [
      rates.map(({ call }) => call), rates.map(({ rate }) => toKey(rate)),
      rates.map(({ rate }) => rate.calls), rates.map(({ rate }) => rate.perMs / PARTS)
    ], { timeoutMs: deadlineMs, waitedMs })
    const used = new Map(rows.map(([call, place, waitMs]) => (
      [readNumber(call), { place: readNumber(place), waitMs: readNumber(waitMs) }]
    )))
    for (const [index, { resolve }] of calls.entries()) resolve(used.get(index + 1))
  }, { deadlineMs })

  return {
    async count<R extends CountedRate> (rates: readonly R[]): Promise<UsedRate<R> | undefined> {
      try {
        const used = await new Promise<UsedPlace | undefined>((resolve, reject) => {
          ask({ rates, resolve, reject })
        })
        if (used === undefined) {
          local.note(rates)
          return undefined
        }
        const rate = rates[used.place]
        if (rate === undefined) throw new TypeError('the answer of PostgreSQL is no used rate')
        return { rate, waitMs: used.waitMs }
      } catch (error) {
        onError(toPostgresError(error))
        return local.count(rates)
      }
    }
  }
}

/** A hash, because it may have an address. */
function toKey ({ key }: CountedRate): string { return hash('sha256', key, 'base64url') }
