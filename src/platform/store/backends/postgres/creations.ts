// The creations of records. Those of one owner run one after the other, so that they take one connection.
// Those that come meanwhile share a statement, its commit and the count of the owner's records.

import { clock, random, timers } from '../../../../base/time.ts'
import type { RecordLifetime, StateKey, StateRecord, StateValue } from '../../records/state-store.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import { isMistake, PostgresError } from './postgres-error.ts'
import type { RecordStatements } from './record-statements.ts'
import { OWNER_FULL, NAME_HELD, NAME_TAKEN } from './schema/schema-functions.ts'
import { readNumber, type AnswerRow, type StatementRunner } from './statement.ts'

type Created = StateRecord | 'taken' | 'full'

interface Creation extends Waiter<Created> {
  readonly name: string
  readonly value: StateValue
  readonly version: string
  readonly idleMs: number
  readonly endsAt: number | null
  readonly limit: number
  readonly since: number
}

/** A creation without an answer after this time rejects, in milliseconds. A statement has the same time. */
const CREATION_MS = 1400
/** How many creations may wait for an answer. */
const MAX_PENDING = 5000
/** A name that somebody else holds is tried again for this time, in milliseconds. */
const HELD_MS = 1000
/** The pause between two tries. */
const RETRY_MS = 30

export function createCreations (runner: StatementRunner, statements: RecordStatements) {
  const owners = new Map<string, ReturnType<typeof gatherInOrder<Creation>>>()
  let pending = 0

  function begin (owner: string, item: Creation): void {
    const ask = owners.get(owner) ?? toOwner(owner)
    ask(item, item.since)
  }

  function toOwner (owner: string) {
    const ask = gatherInOrder<Creation>(
      async (creations, waitedMs) => {
        const [first, second] = creations
        if (second !== undefined) await createTogether(owner, creations, waitedMs)
        else if (first !== undefined) await createOne(owner, first)
      },
      {
        deadlineMs: CREATION_MS,
        bytesOf: ({ value }) => value.bytes.length,
        onIdle () { owners.delete(owner) }
      }
    )
    owners.set(owner, ask)
    return ask
  }

  /** A mistake in one of them is not an error of the others. */
  async function createTogether (
    owner: string, creations: readonly Creation[], waitedMs: number
  ): Promise<void> {
    try {
      const rows = await runner.run(statements.createMany, [
        owner, creations.map(({ name }) => name), creations.map(({ value }) => value.bytes),
        creations.map(({ version }) => version), creations.map(({ idleMs }) => idleMs),
        creations.map(({ endsAt }) => endsAt), creations.map(({ limit }) => limit)
      ], { waitedMs })
      for (const [index, item] of creations.entries()) settle(owner, item, rows[index])
    } catch (error) {
      if (!isMistake(error)) throw error
      for (const item of creations) await createOne(owner, item)
    }
  }

  async function createOne (owner: string, item: Creation): Promise<void> {
    const { name, value, version, idleMs, endsAt, limit, since } = item
    try {
      const [row] = await runner.run(
        statements.create, [owner, name, value.bytes, version, idleMs, endsAt, limit],
        { waitedMs: clock.monotonic() - since }
      )
      settle(owner, item, row)
    } catch (error) {
      if (!isMistake(error)) throw error
      item.reject(error)
    }
  }

  function settle (owner: string, item: Creation, row: AnswerRow | undefined): void {
    const { value, version, since, resolve, reject } = item
    const expiresAt = readNumber(row?.[0])
    if (expiresAt === NAME_TAKEN) resolve('taken')
    else if (expiresAt === OWNER_FULL) resolve('full')
    else if (expiresAt !== NAME_HELD) resolve({ value, version, expiresAt })
    else if (clock.monotonic() - since < HELD_MS) timers.setTimeout(() => { begin(owner, item) }, RETRY_MS)
    else reject(new PostgresError(`somebody held a record for ${HELD_MS} ms`))
  }

  return {
    async create (
      { owner, name }: StateKey, value: StateValue, { idleMs, endsAt }: RecordLifetime, limit: number
    ): Promise<Created> {
      if (pending >= MAX_PENDING) throw new PostgresError(`${MAX_PENDING} creations wait for PostgreSQL`)
      pending++
      return await new Promise<Created>((resolve, reject) => {
        begin(owner, {
          name,
          value,
          // Random, so that a new record never has the version of a deleted one.
          version: random.uuid(),
          idleMs: Math.ceil(idleMs),
          endsAt: endsAt === undefined ? null : Math.floor(endsAt),
          limit,
          since: clock.monotonic(),
          resolve,
          reject
        })
      }).finally(() => { pending-- })
    }
  }
}
