// The replacements of records. Those of one turn of the event loop share a statement and its commit. Those of
// one record run one after the other: a record that somebody else holds must not take all connections.

import { BoundedQueue } from '../../../../base/bounded-queue.ts'
import { clock, random, timers } from '../../../../base/time.ts'
import type { RecordLifetime, StateKey, StateRecord, StateValue } from '../../records/state-store.ts'
import { gatherTurns, type Waiter } from './gather.ts'
import { PostgresError } from './postgres-error.ts'
import type { RecordStatements } from './record-statements.ts'
import { readNumber, type StatementRunner } from './statement.ts'

interface Replacement extends Waiter<StateRecord | undefined> {
  readonly key: StateKey
  readonly version: string
  readonly value: StateValue
  readonly next: string
  readonly idleMs: number | null
  readonly endsAt: number | null
  readonly askedAt: number
}

/** A larger value goes alone, in bytes: an array of values is sent as text. */
const MAX_SHARED_BYTES = 16_384
/** How many replacements of one record may wait for another one. */
const MAX_WAITING = 1000
/** How long they may wait, in milliseconds. */
const MAX_WAIT_MS = 500
/** A record that somebody else holds is tried again, without a connection meanwhile, for this time. */
const HELD_MS = 1000
/** The longest pause between two tries. */
const RETRY_MS = 50

export function createReplacements (runner: StatementRunner, statements: RecordStatements) {
  /** The replacements that wait for the one under way, by record. */
  const queues = new Map<string, BoundedQueue<Replacement>>()

  /** It has one replacement of each record at most. */
  const ask = gatherTurns<Replacement>((replacements) => {
    const shared: Replacement[] = []
    for (const item of replacements) {
      if (item.value.bytes.length > MAX_SHARED_BYTES) replaceAlone(item)
      else shared.push(item)
    }
    const [first, second] = shared
    if (first !== undefined && second === undefined) replaceAlone(first)
    else if (first !== undefined) replaceMany(shared)
  })

  function replaceAlone (item: Replacement): void {
    const { key: { owner, name }, version, value, next, idleMs, endsAt } = item
    const values = [owner, name, version, value.bytes, next, idleMs, endsAt]
    runner.run(statements.replace, values, { waitedMs: waitOf([item]) }).then(([row]) => {
      settle(item, row?.[1] === true ? null : row?.[0] ?? undefined)
    }).catch((error: unknown) => { fail(item, error) })
  }

  function replaceMany (all: readonly Replacement[]): void {
    runner.run(statements.replaceMany, [
      all.map(({ key }) => key.owner), all.map(({ key }) => key.name), all.map(({ version }) => version),
      all.map(({ value }) => value.bytes), all.map(({ next }) => next), all.map(({ idleMs }) => idleMs),
      all.map(({ endsAt }) => endsAt)
    ], { waitedMs: waitOf(all) }).then((rows) => {
      const expiries = new Map(rows.map(([place, expiry]) => [Number(place), expiry]))
      for (const [index, item] of all.entries()) settle(item, expiries.get(index + 1))
    }).catch((error: unknown) => { for (const item of all) fail(item, error) })
  }

  /** @param expiry null if another transaction holds the record, undefined if it has another version. */
  function settle (item: Replacement, expiry: unknown): void {
    if (expiry === null) return tryAgain(item)
    item.resolve(expiry === undefined ? undefined : toRecord(item, expiry))
    const queue = queues.get(toId(item.key))
    // No record has a version again that it has lost, and this answer is as durable as theirs would be.
    for (const [next] of queue ?? []) {
      if (next.version === item.version && queue?.delete(next)) next.resolve(undefined)
    }
    askNext(item)
  }

  function fail (item: Replacement, error: unknown): void {
    item.reject(error)
    askNext(item)
  }

  function tryAgain (item: Replacement): void {
    const heldMs = clock.monotonic() - item.askedAt
    if (heldMs >= HELD_MS) return fail(item, new PostgresError(`somebody held a record for ${HELD_MS} ms`))
    timers.setTimeout(() => { ask(item) }, Math.min(2 + heldMs / 4, RETRY_MS))
  }

  function begin (item: Replacement): void {
    const id = toId(item.key)
    const queue = queues.get(id)
    if (queue === undefined) {
      queues.set(id, createQueue())
      ask(item)
    } else if (!queue.add(item)) {
      item.reject(new PostgresError(`${MAX_WAITING} replacements wait for another one of their record`))
    }
  }

  function askNext ({ key }: Replacement): void {
    const next = queues.get(toId(key))?.take()
    if (next === undefined) queues.delete(toId(key))
    else ask(next)
  }

  return {
    replace: async (
      key: StateKey, version: string, value: StateValue, lifetime?: RecordLifetime
    ) => await new Promise<StateRecord | undefined>((resolve, reject) => {
      const { idleMs, endsAt } = lifetime ?? {}
      begin({
        key,
        version,
        value,
        // Random, so that a new record never has the version of a deleted one.
        next: random.uuid(),
        idleMs: idleMs === undefined ? null : Math.ceil(idleMs),
        endsAt: endsAt === undefined ? null : Math.floor(endsAt),
        askedAt: clock.monotonic(),
        resolve,
        reject
      })
    })
  }
}

const createQueue = () => new BoundedQueue<Replacement>({
  maxSize: MAX_WAITING,
  maxWaitMs: MAX_WAIT_MS,
  onLate ({ reject }) { reject(new PostgresError(`another replacement of a record took ${MAX_WAIT_MS} ms`)) }
})

/** In milliseconds. One that has waited must not wait as long again for a server that hangs. */
const waitOf = (all: readonly Replacement[]) => (
  clock.monotonic() - Math.min(...all.map(({ askedAt }) => askedAt))
)

/** The owner has no slash. */
const toId = ({ owner, name }: StateKey) => `${owner}/${name}`

function toRecord ({ value, next }: Replacement, expiry: unknown): StateRecord {
  return { value, version: next, expiresAt: readNumber(expiry) }
}
