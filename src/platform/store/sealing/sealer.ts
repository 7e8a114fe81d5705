// Encrypted tokens that clients keep for the service. Only a process with the secret can read or create one.
// A token opens only for its own purpose.

import {
  createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject
} from 'node:crypto'
import { clock, random } from '../../../base/time.ts'

export type Sealer = ReturnType<typeof createSealer>

interface SealerOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** Called once, before the first token is sealed with a random secret, which no other process has. */
  readonly onEphemeral?: () => void
}

interface Key { readonly id: string, readonly key: KeyObject }

/** The keys of one purpose. The first one seals, and all of them open. */
interface KeyRing { readonly first: Key, readonly byId: ReadonlyMap<string, Key> }

const SALT = 'trivet'
const KEY_ID_BYTES = 6
const KEY_ID_LENGTH = 8
// 96 random bits: a secret must be replaced before it has sealed 2^32 tokens for one purpose.
const IV_BYTES = 12
const TAG_BYTES = 16
const EXPIRY_BYTES = 6

/**
 * The first secret seals and all secrets open, so that secrets can be replaced one by one. Without secrets
 * the sealer uses a random one.
 */
export function createSealer (secrets: readonly string[] | undefined, options: SealerOptions = {}) {
  const { now = clock.now, onEphemeral = () => {} } = options
  if (secrets !== undefined && (secrets.length === 0 || secrets.includes(''))) {
    throw new Error(
      'The sealer needs at least one secret, and none may be empty; leave them undefined for a random one'
    )
  }
  const master = secrets ?? [random.name(32)]
  const rings = new Map<string, KeyRing>()
  let isAnnounced = secrets !== undefined

  /** Derives the keys of a purpose once. */
  function ringOf (purpose: string): KeyRing {
    const ring = rings.get(purpose) ?? toKeyRing(master.map((secret) => deriveKey(secret, purpose)))
    rings.set(purpose, ring)
    return ring
  }

  function announce (): void {
    if (isAnnounced) return
    isAnnounced = true
    onEphemeral()
  }

  return {
    /**
     * A token of URL-safe characters. It opens only for the same purpose and the same `bound`, and only
     * before `expiresAt`, in milliseconds since the epoch.
     */
    seal (purpose: string, bound: string, bytes: Buffer, expiresAt: number): string {
      announce()
      const { id, key } = ringOf(purpose).first
      const iv = random.bytes(IV_BYTES)
      const expiry = Buffer.allocUnsafe(EXPIRY_BYTES)
      expiry.writeUIntBE(expiresAt, 0, EXPIRY_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(toAssociatedData(id, purpose, bound))
      const encrypted = [cipher.update(expiry), cipher.update(bytes), cipher.final()]
      const sealed = Buffer.concat([iv, ...encrypted, cipher.getAuthTag()])
      return `${id}.${sealed.toString('base64url')}`
    },

    /**
     * Names for a text, one by each secret, the first secret first. The same text has the same names, and
     * nobody without a secret can find them.
     * @param bytes the bytes of a name: 32 at most.
     */
    toNames (purpose: string, text: string, bytes: number): string[] {
      return [...ringOf(purpose).byId.values()].map(
        ({ key }) => createHmac('sha256', key).update(text).digest().subarray(0, bytes).toString('base64url')
      )
    },

    /**
     * Secret bytes for a purpose, one value by each secret, the first secret first. They are the same in all
     * processes with the secret.
     */
    derive (purpose: string, bytes: number): Buffer[] {
      announce()
      const info = `bytes for ${purpose}`
      return master.map((secret) => Buffer.from(hkdfSync('sha256', secret, SALT, info, bytes)))
    },

    /**
     * The sealed bytes. `undefined` for a token that is malformed, forged or expired, or that has another
     * purpose or another `bound`. Never throws.
     */
    open (purpose: string, bound: string, token: string): Buffer | undefined {
      const key = ringOf(purpose).byId.get(token.slice(0, KEY_ID_LENGTH))
      if (key === undefined || token[KEY_ID_LENGTH] !== '.') return undefined
      const sealed = fromBase64Url(token.slice(KEY_ID_LENGTH + 1))
      if (sealed === undefined || sealed.length < IV_BYTES + EXPIRY_BYTES + TAG_BYTES) return undefined
      const bytes = decrypt(key, toAssociatedData(key.id, purpose, bound), sealed)
      if (bytes === undefined || bytes.readUIntBE(0, EXPIRY_BYTES) <= now()) return undefined
      return bytes.subarray(EXPIRY_BYTES)
    }
  }
}

function toKeyRing (keys: readonly Key[]): KeyRing {
  const [first] = keys
  if (first === undefined) throw new Error('no keys')
  return { first, byId: new Map(keys.map((key) => [key.id, key])) }
}

function deriveKey (secret: string, purpose: string): Key {
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, SALT, info, bytes))
  const id = derive('key id', KEY_ID_BYTES).toString('base64url')
  return { id, key: createSecretKey(derive(`key for ${purpose}`, 32)) }
}

/** JSON separates the values, and escapes a lone surrogate, which UTF-8 would replace. */
function toAssociatedData (keyId: string, purpose: string, bound: string): Buffer {
  return Buffer.from(JSON.stringify([keyId, purpose, bound]))
}

/**
 * Node's decoder skips unknown characters, so many texts decode to the same bytes. Only the canonical text is
 * accepted.
 */
function fromBase64Url (text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

function decrypt ({ key }: Key, associatedData: Buffer, sealed: Buffer): Buffer | undefined {
  const iv = sealed.subarray(0, IV_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(associatedData)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const bytes = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    // `final` throws only if the bytes are not the sealed ones.
    return undefined
  }
  return bytes
}
