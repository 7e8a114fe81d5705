// What the LMDB store writes of a record, beside its value: a key that is a text, and a header of fixed length.

import type { StateKey } from '../../state/state-store.ts'

/** LMDB takes keys of 1,978 bytes; the key of an expiry is longer than its record's by a number and some marks. */
const MAX_KEY_BYTES = 1_950
export const VERSION_BYTES = 24

/** What is known of a record beside its value: apart from it, so that a use does not write the value again. */
export interface Header {
  readonly version: string
  readonly idleMs: number
  readonly endsAt: number
  readonly expiresAt: number
  /** Where its expiry is noted: a use does not move the note, the sweep does. Never later than `expiresAt`. */
  readonly notedAt: number
}

/** An owner has no `/`, so that two pairs never make one id, and an owner's ids are a range. */
export function toId ({ owner, name }: StateKey): string {
  const id = `${owner}/${name}`
  if (Buffer.byteLength(id) > MAX_KEY_BYTES) throw new RangeError(`an owner and a name must not be longer than ${MAX_KEY_BYTES - 1} bytes together`)
  return id
}

export function ownerOf (id: string): string {
  return id.slice(0, id.indexOf('/'))
}

export function fromNumbers (...numbers: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * 8)
  numbers.forEach((number, index) => bytes.writeDoubleBE(number, index * 8))
  return bytes
}

export function fromHeader ({ version, idleMs, endsAt, expiresAt, notedAt }: Header): Buffer {
  return Buffer.concat([Buffer.from(version, 'latin1'), fromNumbers(idleMs, endsAt, expiresAt, notedAt)])
}

export function toHeader (bytes: Buffer): Header {
  const numberAt = (index: number) => bytes.readDoubleBE(VERSION_BYTES + index * 8)
  return { version: bytes.toString('latin1', 0, VERSION_BYTES), idleMs: numberAt(0), endsAt: numberAt(1), expiresAt: numberAt(2), notedAt: numberAt(3) }
}

/** As it is after a use at this time, unless it had expired by then or is known to live longer. */
export function extended (header: Header, usedAt: number | undefined): Header {
  if (usedAt === undefined || usedAt >= header.expiresAt) return header
  return { ...header, expiresAt: Math.max(header.expiresAt, Math.min(usedAt + header.idleMs, header.endsAt)) }
}
