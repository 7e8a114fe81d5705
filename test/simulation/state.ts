// The simulated state: records, due times and counts, as one Redis with a standby has them. Each operation is
// done at once. What lies between it and a replica is in network.ts.

import { createLocalCallCounter } from '../../src/platform/limits/local-call-counter.ts'
import {
  createLocalDueTimes, type DueEntry, type DueTimes, type TakenEntries
} from '../../src/platform/store/records/due-times.ts'
import type {
  RecordLifetime, StateKey, StateRecord, StateValue
} from '../../src/platform/store/records/state-store.ts'
import { DurableMap } from './durable-map.ts'
import type { Process, World } from './world.ts'

interface SimulatedRecord extends StateKey {
  readonly bytes: Buffer
  readonly version: string
  readonly lifetime: RecordLifetime
  /** A use moves it, also on the standby. */
  readonly expiry: { at: number }
  /** The replica that created it, and when. `undefined` once it was replaced. */
  readonly creation: Creation | undefined
}

export interface Creation { readonly by: Process, readonly at: number }

interface DueTime { readonly at: number, readonly generation: number }

/** What an operation returns, and the key whose value the caller may only learn once it is durable. */
export interface Outcome<T> { readonly value: T, readonly isDurable: () => boolean }

export class SimulatedState {
  readonly #world: World
  readonly records = new DurableMap<SimulatedRecord>()
  /** A copy of the times, as the standby has them too. */
  readonly dueTimes = new DurableMap<DueTime>()
  /** The service's own table. */
  #times: DueTimes
  readonly callCounter
  #versions = 0
  /** Called with the entry or the key of each write. */
  onWrite: (text: string) => void = () => {}
  /** Called when an earlier generation makes an entry due sooner. */
  onSooner: (entry: string, soonerMs: number) => void = () => {}

  constructor (world: World) {
    this.#world = world
    this.#times = this.#createTimes()
    // The counter makes room for its keys at once, and a simulation has a few callers.
    this.callCounter = createLocalCallCounter({ now: () => world.now, maxKeys: 1000 })
  }

  split (): void { for (const map of [this.records, this.dueTimes]) map.split() }
  heal (): void { for (const map of [this.records, this.dueTimes]) map.heal() }
  failOver (): void {
    for (const map of [this.records, this.dueTimes]) map.failOver()
    this.#times = this.#createTimes()
    for (const [entry, { at, generation }] of this.dueTimes.entries()) {
      this.#times.set(entry, at - this.#world.now, generation).catch(() => {})
    }
  }

  create (
    by: Process, key: StateKey, { bytes }: StateValue, lifetime: RecordLifetime, limit: number
  ): Outcome<StateRecord | 'taken' | 'full'> {
    const text = toText(key)
    if (this.#find(key) !== undefined) return this.#durably(text, 'taken')
    if (this.list(key.owner).value.size >= limit) return at('full')
    return this.#put(key, bytes, lifetime, { by, at: this.#world.now })
  }

  read (key: StateKey): Outcome<StateRecord | undefined> {
    const record = this.#find(key)
    if (record !== undefined) record.expiry.at = this.#expiryOf(record.lifetime)
    return at(record && toRecord(record))
  }

  peek (key: StateKey): Outcome<StateRecord | undefined> {
    const record = this.#find(key)
    return at(record && toRecord(record))
  }

  replace (
    key: StateKey, version: string, { bytes }: StateValue, lifetime?: RecordLifetime
  ): Outcome<StateRecord | undefined> {
    const record = this.#find(key)
    if (record?.version !== version) return this.#durably(toText(key), undefined)
    return this.#put(key, bytes, lifetime ?? record.lifetime)
  }

  confirm (key: StateKey, version: string): Outcome<boolean> {
    return this.#durably(toText(key), this.#find(key)?.version === version)
  }

  delete (key: StateKey): Outcome<boolean> {
    const isLive = this.#find(key) !== undefined
    this.records.delete(toText(key))
    return this.#durably(toText(key), isLive)
  }

  list (owner: string): Outcome<ReadonlyMap<string, number>> {
    const live = [...this.records.entries()].flatMap(([, record]) => (
      record.owner === owner && this.#isLive(record) ? [[record.name, record.expiry.at] as const] : []
    ))
    return at(new Map(live))
  }

  async setDue (
    entry: string, inMs: number, generation: number, lateMs = inMs
  ): Promise<Outcome<number>> {
    const before = this.dueTimes.get(entry)
    const value = await this.#times.set(entry, Math.ceil(inMs), generation, Math.ceil(lateMs))
    await this.#copyTimes()
    const soonerMs = (before?.at ?? 0) - (this.dueTimes.get(entry)?.at ?? 0)
    if (before !== undefined && before.generation > generation && soonerMs > 0) {
      this.onSooner(entry, soonerMs)
    }
    this.onWrite(entry)
    return { value, isDurable: () => this.dueTimes.isDurable(entry) }
  }

  async removeDue (entry: string): Promise<Outcome<void>> {
    await this.#times.remove(entry)
    await this.#copyTimes()
    return at(undefined)
  }

  async take (limit: number, holdMs: number): Promise<Outcome<TakenEntries>> {
    const taken = await this.#times.take(limit, Math.ceil(holdMs))
    await this.#copyTimes()
    return at(taken)
  }

  peekDue (limit: number, withinMs: number): Outcome<readonly DueEntry[]> {
    const entries = this.listDue().value.entries.filter(({ inMs }) => inMs <= withinMs)
    return at(entries.sort((one, other) => one.inMs - other.inMs).slice(0, limit))
  }

  /** One page has all. */
  listDue (): Outcome<{ readonly entries: DueEntry[], readonly next: undefined }> {
    const { now } = this.#world
    const entries = [...this.dueTimes.entries()].map(
      ([entry, { at, generation }]) => ({ entry, inMs: at - now, generation })
    )
    return at({ entries, next: undefined })
  }

  #createTimes (): DueTimes { return createLocalDueTimes({ now: () => this.#world.now }) }

  async #copyTimes (): Promise<void> {
    const { now } = this.#world
    const { entries } = await this.#times.list(undefined, Infinity)
    const names = new Set(entries.map(({ entry }) => entry))
    for (const { entry, inMs, generation } of entries) {
      const before = this.dueTimes.get(entry)
      const isSame = before?.at === now + inMs && before.generation === generation
      if (!isSame) this.dueTimes.set(entry, { at: now + inMs, generation })
    }
    for (const [entry] of [...this.dueTimes.entries()]) if (!names.has(entry)) this.dueTimes.delete(entry)
  }

  #find (key: StateKey): SimulatedRecord | undefined {
    const record = this.records.get(toText(key))
    return record !== undefined && this.#isLive(record) ? record : undefined
  }

  #isLive ({ expiry }: SimulatedRecord): boolean { return this.#world.now < expiry.at }

  #put (
    key: StateKey, bytes: Buffer, lifetime: RecordLifetime, creation?: Creation
  ): Outcome<StateRecord> {
    const version = String(++this.#versions)
    const expiry = { at: this.#expiryOf(lifetime) }
    const record = { ...key, bytes: Buffer.from(bytes), version, lifetime, expiry, creation }
    this.records.set(toText(key), record)
    this.onWrite(toText(key))
    return this.#durably(toText(key), toRecord(record))
  }

  #expiryOf ({ idleMs, endsAt = Infinity }: RecordLifetime): number {
    return Math.min(this.#world.now + idleMs, endsAt)
  }

  /** Who learns of a value may rely on it: it must be on the standby too. */
  #durably<T> (text: string, value: T): Outcome<T> {
    const seen = this.records.get(text)
    return {
      value,
      isDurable: () => this.records.isDurable(text) || this.records.getDurable(text) === seen
    }
  }
}

/** What needs no durability. */
function at<T> (value: T): Outcome<T> { return { value, isDurable: () => true } }

function toText ({ owner, name }: StateKey): string { return `${owner}/${name}` }

function toRecord ({ bytes, version, expiry }: SimulatedRecord): StateRecord {
  return { value: { bytes }, version, expiresAt: expiry.at }
}
