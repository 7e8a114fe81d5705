// Creates records for senders of all networks. Each anonymous network may create only its share of the
// records: it takes a place for each of them.

import { hash } from 'node:crypto'
import { ShareUsed } from '../../limits/limits.ts'
import { newMark, retryOutage, type OutageOptions } from './lost-replies.ts'
import { createRemovals } from './removals.ts'
import type { RecordLifetime, StateKey, StateRecord, StateStore, StateValue } from './state-store.ts'

interface PlacedLifetime extends RecordLifetime {
  /** How long the place of the record is taken, in milliseconds. As long as an unused record by default. */
  readonly placeMs?: number
  /** Names the attempt in its place. Random by default. */
  readonly mark?: string
}

export type Shares = ReturnType<typeof createShares>

const ONCE = { firstMs: 0, maxMs: 0, forMs: 0 }

/** For a record that must exist: it counts, and may be one too many. */
export const NO_LIMIT = 2_147_483_647

export const EMPTY_VALUE = { bytes: Buffer.alloc(0) }

/**
 * A place is a record of the same name and lifetime, under an owner derived from the network. It has only the
 * mark of the attempt that took it: one that fails removes no place of another. Uses of the record do not
 * extend its place, because that would cost each use another write. So a share limits what a network creates
 * within one idle lifetime; records that it keeps in use for longer count only against the limit of their
 * owner. A network of `undefined` needs no places.
 *
 * @param purpose what the records are, as part of the owner of their places.
 * @param share how many places one network has.
 */
export function createShares (store: StateStore, purpose: string, share: number) {
  const removals = createRemovals(store)

  // A hash, so that the store has no addresses.
  const toPlace = (network: string, { name }: StateKey): StateKey => ({
    owner: `${purpose}-of-${hash('sha256', network, 'base64url')}`, name
  })

  const isGone = async (key: StateKey) => await store.peek(key) === undefined

  /** Takes over a record that another attempt may be removing: the removal has read another version. */
  async function takeOver (
    key: StateKey, mark: string, lifetime: RecordLifetime, outage: OutageOptions
  ): Promise<void> {
    const value = toMarkValue(mark)
    await retryOutage(async () => {
      const record = await store.peek(key)
      if (record !== undefined && await store.replace(key, record.version, value, lifetime)) return
      await store.create(key, value, lifetime, NO_LIMIT)
    }, outage)
  }

  return {
    /**
     * Creates a record as the store does. Rejects with ShareUsed if all places of the network are taken.
     * @param outage how to try again after lost replies. `taken` may then tell of the caller's own record.
     */
    async create (
      network: string | undefined, key: StateKey, value: StateValue,
      { placeMs, mark = newMark(), ...lifetime }: PlacedLifetime, limit: number, outage: OutageOptions = ONCE
    ): ReturnType<StateStore['create']> {
      const createRecord = async () => await store.create(key, value, lifetime, limit)
      if (network === undefined) return await retryOutage(createRecord, outage)
      const place = toPlace(network, key)
      const placeLifetime = { ...lifetime, idleMs: placeMs ?? lifetime.idleMs }
      const isLeft = async (record: StateRecord) => hasMark(record, mark) && await isGone(key)
      let attempts = 0
      try {
        const outcome = await retryOutage(async () => {
          attempts++
          return await store.create(place, toMarkValue(mark), placeLifetime, share)
        }, outage)
        if (outcome === 'full') throw new ShareUsed(network, share)
        const record = await retryOutage(createRecord, outage)
        if (record === 'full') await removals.removeNow(place, isLeft)
        else if (record !== 'taken' && outcome === 'taken') {
          await takeOver(place, mark, placeLifetime, outage)
        }
        // An attempt whose reply was lost may still take the place, when the record has gone.
        if (attempts > 1) removals.add(place, isLeft)
        return record
      } catch (error) {
        if (attempts > 1 || !(error instanceof ShareUsed)) removals.add(place, isLeft)
        throw error
      }
    },
    /** Deletes a record as the store does. Frees the place only if this network took it. */
    async delete (network: string | undefined, key: StateKey): Promise<boolean> {
      const isDeleted = await store.delete(key)
      if (network === undefined) return isDeleted
      const place = toPlace(network, key)
      // Also if it was deleted before: the replica that did so may have been lost since.
      await store.delete(place).catch(() => removals.add(place))
      return isDeleted
    },
    /** Deletes a record and its place. Rejects if one of them may be left: the caller repeats it. */
    async release (network: string | undefined, key: StateKey): Promise<void> {
      await store.delete(key)
      if (network !== undefined) await store.delete(toPlace(network, key))
    },
    /**
     * Takes over a record that has only a mark, and its place: those that took them may remove them.
     * @param outage how to try again after lost replies.
     */
    async takeOver (
      network: string | undefined, key: StateKey, mark: string, lifetime: RecordLifetime,
      outage: OutageOptions
    ): Promise<void> {
      const keys = network === undefined ? [key] : [key, toPlace(network, key)]
      await Promise.all(keys.map(async (record) => await takeOver(record, mark, lifetime, outage)))
    },
    /**
     * Removes a record that has only this mark, and its place, once it is unwanted. Does not reject.
     * @param isLate whether a write whose reply was lost may still create one of them.
     */
    async withdraw (
      network: string | undefined, key: StateKey, mark: string, isUnwanted: () => Promise<boolean>,
      isLate: boolean
    ): Promise<void> {
      const isLeft = async (record: StateRecord) => hasMark(record, mark) && await isUnwanted()
      if (network !== undefined) {
        // The place is read first: then no later call has it when its record goes.
        const isPlaceLeft = async (place: StateRecord) => (
          hasMark(place, mark) && (await removals.removeIf(key, isLeft) || await isGone(key))
        )
        const remove = isLate ? removals.add : removals.removeSoon
        await remove(toPlace(network, key), isPlaceLeft)
      }
      // Also for a network: its place may be that of another attempt, or gone.
      const removeRecord = isLate ? removals.add : removals.removeNow
      await removeRecord(key, isLeft)
    },
    /** Lets the place of a record end this long from now, in milliseconds. */
    async shorten (network: string | undefined, key: StateKey, ms: number): Promise<void> {
      if (network === undefined) return
      const place = toPlace(network, key)
      const record = await store.peek(place)
      if (record !== undefined) await store.replace(place, record.version, record.value, { idleMs: ms })
    },
    /** Frees the place of a record that does not exist any more. Does not reject. */
    async free (network: string | undefined, key: StateKey): Promise<void> {
      if (network === undefined) return
      await removals.removeNow(toPlace(network, key), async () => await isGone(key))
    }
  }
}

/** Returns the value of a record that has only the mark of the attempt that created it. */
export function toMarkValue (mark: string): StateValue { return { bytes: Buffer.from(mark) } }

function hasMark ({ value }: StateRecord, mark: string): boolean { return value.bytes.toString() === mark }
