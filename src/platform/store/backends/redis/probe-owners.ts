// The owners whose records are written to find out whether Redis takes writes: one for each master.

import { Cluster, type Redis } from 'ioredis'
import { PROBE_NAME } from '../../records/write-probe.ts'

/** A master that is moving away may have few slots, for which an owner is searched in vain. */
const MAX_TRIES = 1000

/** Computed for each probe: masters come and go, and slots move between them. */
export function toProbeOwners (client: Redis | Cluster): readonly string[] {
  if (!(client instanceof Cluster)) return [PROBE_NAME]
  const masters = client.slots.map(([master]) => master)
  const owners = new Map<string, string>()
  const masterCount = new Set(masters).size
  for (let count = 0; count < MAX_TRIES && owners.size < masterCount; count++) {
    const owner = `${PROBE_NAME}-${count}`
    const master = masters[toSlot(owner)]
    if (master !== undefined && !owners.has(master)) owners.set(master, owner)
  }
  return owners.size > 0 ? [...owners.values()] : [PROBE_NAME]
}

/** The slot of a key with this text in braces: CRC16 (XMODEM), as Redis computes it. */
function toSlot (text: string): number {
  let crc = 0
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  }
  return crc & 0x3fff
}
