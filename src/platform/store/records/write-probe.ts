// Whether a store takes writes: found out by a write.

import { random } from '../../../base/time.ts'
import type { StateKey, StateStore } from './state-store.ts'

/** Longer than the time between two probes. What a replica leaves behind expires. */
const LIFETIME = { idleMs: 60_000 }
const VALUE = { bytes: Buffer.from('trivet') }

/** The name of the record that this process writes. An owner of its own has no other records. */
export const PROBE_NAME = `probe-${random.name(9)}`

/**
 * Removes the record of the last probe, and creates it again. That needs the rights, the room and the
 * replicas that each record needs. Rejects as the store does.
 */
export async function probeWrites (
  store: Pick<StateStore, 'create' | 'delete'>, key: StateKey
): Promise<void> {
  await store.delete(key)
  // `taken` tells of an earlier write of this process, which counts as well.
  await store.create(key, VALUE, LIFETIME, 1)
}
