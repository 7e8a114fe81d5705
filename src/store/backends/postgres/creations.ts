// The creations of records. Those of one owner run one after the other, so that they take one connection.
// Those that come meanwhile share a statement, its commit and the count of the owner's records.

import { random } from '../../../base/time.ts'
import type { RecordLifetime, StateKey, StateRecord, StateValue } from '../../records/state-store.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import { isMistake } from './postgres-error.ts'
import type { RecordStatements } from './record-statements.ts'
import { IS_FULL, IS_TAKEN } from './schema-functions.ts'
import { MAX_SHARED_BYTES, readNumber, type AnswerRow, type StatementRunner } from './statement.ts'

type Created = StateRecord | 'taken' | 'full'

interface Creation extends Waiter<Created> {
  readonly name: string
  readonly value: StateValue
  readonly version: string
  readonly idleMs: number
  readonly endsAt: number | null
  readonly limit: number
}

/** A creation without an answer after this time rejects, in milliseconds. As a statement does. */
const CREATION_MS = 1400

export function createCreations (runner: StatementRunner, statements: RecordStatements) {
  const owners = new Map<string, (creation: Creation) => void>()

  function toOwner (owner: string): (creation: Creation) => void {
    const ask = gatherInOrder<Creation>(async (creations) => {
      const shared = creations.filter(isSmall)
      if (shared.length > 1) await createTogether(owner, shared)
      const alone = shared.length > 1 ? creations.filter((one) => !isSmall(one)) : creations
      for (const one of alone) await createOne(owner, one)
    }, { deadlineMs: CREATION_MS, onIdle () { owners.delete(owner) } })
    owners.set(owner, ask)
    return ask
  }

  /** A mistake in one of them is not an error of the others. */
  async function createTogether (owner: string, creations: readonly Creation[]): Promise<void> {
    try {
      const rows = await runner.run(statements.createMany, [
        owner, creations.map(({ name }) => name), creations.map(({ value }) => value.bytes),
        creations.map(({ version }) => version), creations.map(({ idleMs }) => idleMs),
        creations.map(({ endsAt }) => endsAt), creations.map(({ limit }) => limit)
      ])
      for (const [index, one] of creations.entries()) one.resolve(toCreated(one, rows[index]))
    } catch (error) {
      if (!isMistake(error)) throw error
      for (const one of creations) await createOne(owner, one)
    }
  }

  async function createOne (owner: string, one: Creation): Promise<void> {
    const { name, value, version, idleMs, endsAt, limit } = one
    try {
      const values = [owner, name, value.bytes, version, idleMs, endsAt, limit]
      const [row] = await runner.run(statements.create, values)
      one.resolve(toCreated(one, row))
    } catch (error) {
      if (!isMistake(error)) throw error
      one.reject(error)
    }
  }

  return {
    create: async (
      { owner, name }: StateKey, value: StateValue, { idleMs, endsAt }: RecordLifetime, limit: number
    ) => await new Promise<Created>((resolve, reject) => {
      const ask = owners.get(owner) ?? toOwner(owner)
      ask({
        name,
        value,
        // Random, so that a new record never has the version of a deleted one.
        version: random.uuid(),
        idleMs: Math.ceil(idleMs),
        endsAt: endsAt === undefined ? null : Math.floor(endsAt),
        limit,
        resolve,
        reject
      })
    })
  }
}

const isSmall = ({ value }: Creation) => value.bytes.length <= MAX_SHARED_BYTES

function toCreated ({ value, version }: Creation, row: AnswerRow | undefined): Created {
  const expiresAt = readNumber(row?.[0])
  if (expiresAt === IS_TAKEN) return 'taken'
  return expiresAt === IS_FULL ? 'full' : { value, version, expiresAt }
}
