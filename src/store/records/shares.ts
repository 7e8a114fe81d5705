// Creates records for senders of all networks. Each anonymous network may create only its share of the
// records: it takes a place for each of them.

import { hash } from 'node:crypto'
import { ShareUsed } from '../../limits/limits.ts'
import { retryOutage, type OutageOptions } from './lost-replies.ts'
import { createRemovals } from './removals.ts'
import type { RecordLifetime, StateKey, StateStore, StateValue } from './state-store.ts'

interface PlacedLifetime extends RecordLifetime {
  /** How long the place of the record is taken, in milliseconds. As long as an unused record by default. */
  readonly placeMs?: number
}

export type Shares = ReturnType<typeof createShares>

const ONCE = { firstMs: 0, maxMs: 0, forMs: 0 }

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

  async function free (place: StateKey): Promise<void> {
    await store.delete(place).catch(() => removals.add(place))
  }

  /** Adds the place to the removals if it is not known whether the work was done. */
  async function orRemove<T> (place: StateKey, work: Promise<T>): Promise<T> {
    return await work.catch((error: unknown) => {
      removals.add(place)
      throw error
    })
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
      const outcome = await orRemove(place, retryOutage(async () => {
        attempts++
        return await store.create(place, EMPTY_VALUE, placeLifetime, share)
      }, outage))
      if (outcome === 'full') throw new ShareUsed(network, share)
      const record = await orRemove(place, retryOutage(createRecord, outage))
      if (record === 'full') await free(place)
      // An attempt whose reply was lost may still take the place, when the record has gone.
      else if (attempts > 1) removals.add(place, async () => await store.peek(key) === undefined)
      return record
    },
    /** Deletes a record as the store does. Frees the place only if this network took it. */
    async delete (network: string | undefined, key: StateKey): Promise<boolean> {
      const isDeleted = await store.delete(key)
      // Also if it was deleted before: the replica that did so may have been lost since.
      if (network !== undefined) await free(toPlace(network, key))
      return isDeleted
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
      if (network !== undefined) await free(toPlace(network, key))
    }
  }
}
