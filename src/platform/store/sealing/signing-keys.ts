// The keys with which this service signs for others. They are derived from its secrets: all replicas sign
// alike, and a replaced secret replaces its key.

import { createECDH, createPrivateKey, hash, type KeyObject } from 'node:crypto'
import type { Sealer } from './sealer.ts'

/** A public key as others read it: RFC 7517. */
export interface PublicKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly alg: 'ES256'
  readonly use: 'sig'
  /** The thumbprint of the key: RFC 7638. */
  readonly kid: string
}

interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: PublicKey
}

export interface SigningKeys {
  /** The key of the first secret. */
  readonly current: SigningKey
  /** The keys of all secrets, the first secret first. */
  readonly all: readonly SigningKey[]
  /** The public keys of all secrets, as the JSON of a set of keys. */
  readonly jwks: string
}

const CURVE = 'prime256v1'
/** How many private keys P-256 has: the order of its group, minus one. */
const KEY_COUNT = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n - 1n
const KEY_BYTES = 32
/** With 128 bits more than a key has, all keys are equally likely: FIPS 186-5, A.2.1. */
const DERIVED_BYTES = KEY_BYTES + 16

/**
 * Creates the keys for ES256.
 * @param purpose what the keys sign: each purpose has keys of its own.
 */
export function createSigningKeys (
  sealer: Pick<Sealer, 'derive'>, purpose: 'signing' | 'sign-in' = 'signing'
): SigningKeys {
  const keys = sealer.derive(purpose, DERIVED_BYTES).map(toSigningKey)
  const [current] = keys
  if (current === undefined) throw new TypeError('unreachable: a sealer has a secret')
  return { current, all: keys, jwks: JSON.stringify({ keys: keys.map(({ publicKey }) => publicKey) }) }
}

function toSigningKey (bytes: Buffer): SigningKey {
  const number = BigInt(`0x${bytes.toString('hex')}`) % KEY_COUNT + 1n
  const secret = Buffer.from(number.toString(16).padStart(2 * KEY_BYTES, '0'), 'hex')
  const ecdh = createECDH(CURVE)
  ecdh.setPrivateKey(secret)
  // A byte for the form, then both coordinates.
  const point = ecdh.getPublicKey()
  const [x, y] = [point.subarray(1, 1 + KEY_BYTES), point.subarray(1 + KEY_BYTES)].map(toText)
  const key = { crv: 'P-256', kty: 'EC', x: x ?? '', y: y ?? '' } as const
  const privateKey = createPrivateKey({ key: { ...key, d: toText(secret) }, format: 'jwk' })
  // The thumbprint is of these members in this order.
  const kid = hash('sha256', JSON.stringify(key), 'base64url')
  return { privateKey, publicKey: { ...key, alg: 'ES256', use: 'sig', kid } }
}

function toText (bytes: Buffer): string {
  return bytes.toString('base64url')
}
