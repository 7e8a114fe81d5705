// Creates records for senders of all networks. Each anonymous network may create only its share of the
// records: it takes a place for each of them.

import { hash } from 'node:crypto'
import { ShareUsed } from '../../limits/limits.ts'
import { retryOutage, type OutageOptions } from './lost-replies.ts'
import { createRemovals, type IsUnwanted } from './removals.ts'
import type { RecordLifetime, StateKey, StateStore, StateValue } from './state-store.ts'

interface PlacedLifetime extends RecordLifetime {
  /** How long the place of the record is taken, in milliseconds. As long as an unused record by default. */
  readonly placeMs?: number
}

export type Shares = ReturnType<typeof createShares>

const ONCE = { firstMs: 0, maxMs: 0, forMs: 0 }

/** A record that must exist counts, and may be one too many. */
const NO_LIMIT = 2_147_483_647

export const EMPTY_VALUE = { bytes: Buffer.alloc(0) }

/**
 * A place is an empty record of the same name and lifetime, under an owner derived from the network. Uses of
 * the record do not extend its place, because that would cost each use another write. So a share limits what
 * a network creates within one idle lifetime; records that it keeps in use for longer count only against the
 * limit of their owner. A network of `undefined` needs no places.
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

  /** A place is unwanted without its record, whoever took it. */
  const isWithout = (key: StateKey) => async () => await store.peek(key) === undefined

  /** Writes a record that a removal may have read before: the removal then leaves it. */
  async function rewrite (key: StateKey, lifetime: RecordLifetime): Promise<void> {
    const record = await store.peek(key)
    if (record !== undefined && await store.replace(key, record.version, EMPTY_VALUE, lifetime)) return
    await store.create(key, EMPTY_VALUE, lifetime, NO_LIMIT)
  }

  return {
    /**
     * Creates a record as the store does. Rejects with ShareUsed if all places of the network are taken.
     * @param outage how to try again after lost replies. `taken` may then tell of the caller's own record.
     */
    async create (
      network: string | undefined, key: StateKey, value: StateValue,
      { placeMs, ...lifetime }: PlacedLifetime, limit: number, outage: OutageOptions = ONCE
    ): ReturnType<StateStore['create']> {
      const createRecord = async () => await store.create(key, value, lifetime, limit)
      if (network === undefined) return await retryOutage(createRecord, outage)
      const place = toPlace(network, key)
      const placeLifetime = { ...lifetime, idleMs: placeMs ?? lifetime.idleMs }
      let attempts = 0
      try {
        const outcome = await retryOutage(async () => {
          attempts++
          return await store.create(place, EMPTY_VALUE, placeLifetime, share)
        }, outage)
        if (outcome === 'full') throw new ShareUsed(network, share)
        const record = await retryOutage(createRecord, outage)
        if (record === 'full') await removals.removeNow(place, isWithout(key))
        // Another attempt that took the place may have failed, and may be removing it.
        else if (record !== 'taken' && outcome === 'taken') await rewrite(place, placeLifetime)
        // An attempt whose reply was lost may still take the place, when the record has gone.
        if (attempts > 1) removals.add(place, isWithout(key))
        return record
      } catch (error) {
        if (attempts > 1 || !(error instanceof ShareUsed)) removals.add(place, isWithout(key))
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
    /** Rewrites a record that another call has created: if that fails, it removes the record. */
    async keep (network: string | undefined, key: StateKey, lifetime: RecordLifetime): Promise<void> {
      await rewrite(key, lifetime)
      if (network !== undefined) await rewrite(toPlace(network, key), lifetime)
    },
    /**
     * Removes an empty record that is unwanted, and its place. Does not reject.
     * @param isLate whether a write whose reply was lost may still create one of them.
     */
    async withdraw (
      network: string | undefined, key: StateKey, isUnwanted: IsUnwanted, isLate: boolean
    ): Promise<void> {
      const remove = isLate ? removals.add : removals.removeNow
      if (network !== undefined) {
        const isWithoutRecord = isWithout(key)
        // The place is read first: then no later call has it when its record goes.
        await remove(toPlace(network, key), async () => (
          await removals.removeIf(key, isUnwanted) || await isWithoutRecord()
        ))
      }
      if (network === undefined || isLate) await remove(key, isUnwanted)
    },
    /** Lets the place of a record end this long from now, in milliseconds. */
    async shorten (network: string | undefined, key: StateKey, ms: number): Promise<void> {
      if (network === undefined) return
      const place = toPlace(network, key)
      const record = await store.peek(place)
      if (record !== undefined) await store.replace(place, record.version, EMPTY_VALUE, { idleMs: ms })
    },
    /** Frees the place of a record that does not exist any more. Does not reject. */
    async free (network: string | undefined, key: StateKey): Promise<void> {
      if (network !== undefined) await removals.removeNow(toPlace(network, key), isWithout(key))
    }
  }
}
