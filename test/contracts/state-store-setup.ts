// The stores that a contract opens, and the values that its tests share.

import type { Test } from 'tap'
import type {
  RecordLifetime, StateKey, StateRecord, StateStore
} from '../../src/platform/store/records/state-store.ts'
import { toValue } from '../helpers/state-value.ts'

/** A new store for one test, and its clock. */
export interface OpenStore {
  readonly store: StateStore
  /** In milliseconds since the epoch. */
  now (): number
  /** Resolves when this time has passed for the store. */
  advance (ms: number): Promise<void> | void
  /** Opens another store on the same medium. Absent if records do not outlive the store. */
  reopen? (): Promise<StateStore>
}

export interface StateStoreContractOptions {
  /** The unit of lifetimes. With a real clock it must be long enough for a few operations. */
  readonly unitMs?: number
  /** The allowed difference of times. 0 with an injected clock. */
  readonly toleranceMs?: number
}

export type OpenTestStore = (t: Test) => Promise<OpenStore>

export interface StoreSetup {
  readonly KEY: StateKey
  readonly IDLE: RecordLifetime
  readonly LIMIT: number
  readonly unitMs: number
  named (name: string, owner?: string): StateKey
  create (store: StateStore, key: StateKey, value?: string, lifetime?: RecordLifetime): Promise<StateRecord>
  isAbout (t: Test, actual: number | undefined, expected: number, what: string): void
}

export function createStoreSetup (
  { unitMs = 60_000, toleranceMs = 0 }: StateStoreContractOptions
): StoreSetup {
  const KEY: StateKey = { owner: 'owner-1', name: 'bsk_1.a:b' }
  const IDLE: RecordLifetime = { idleMs: 10 * unitMs }
  const LIMIT = 1000
  const named = (name: string, owner = KEY.owner): StateKey => ({ owner, name })

  async function create (
    store: StateStore, key: StateKey, value = 'first', lifetime = IDLE
  ): Promise<StateRecord> {
    const made = await store.create(key, toValue(value), lifetime, LIMIT)
    if (typeof made === 'string') throw new Error(`expected a record, got ${made}`)
    return made
  }

  function isAbout (t: Test, actual: number | undefined, expected: number, what: string): void {
    t.ok(
      actual !== undefined && Math.abs(actual - expected) <= toleranceMs,
      `${what}: expected ${expected}, got ${actual}`
    )
  }

  return { KEY, IDLE, LIMIT, unitMs, named, create, isAbout }
}
