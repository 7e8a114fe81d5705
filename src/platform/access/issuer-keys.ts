// The keys that an issuer publishes.

import {
  createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type CryptoKey, type FlattenedJWSInput,
  type JWTHeaderParameters
} from 'jose'
import { withCooldown } from '../../base/single-flight.ts'
import { clock } from '../../base/time.ts'
import { AuthenticationUnavailable, reasonOf } from './authentication.ts'
import type { IssuerAccess } from './authorization-servers.ts'
import type { Fetch } from './bounded-fetch.ts'
import { readEndpointUrl } from './server-url.ts'

export interface IssuerKeysOptions {
  /**
   * How long after the keys were read an unknown `kid` does not ask again, in milliseconds. 5000 by default:
   * a stranger who invents names holds a new key off for this time at most.
   */
  readonly keysCooldownMs?: number
  /** How long the keys count before they are read again, in milliseconds. Ten minutes by default. */
  readonly keysMaxAgeMs?: number
  /** How long a server that failed is not asked again, in milliseconds. 5000 by default. */
  readonly cooldownMs?: number
  readonly now?: () => number
}

/** Rejects with an AuthenticationUnavailable where the server does not answer as it must. */
export type IssuerKeys = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>

/** The clock of this machine may be ahead of the issuer's by this time. */
const NEW_KEY_LEEWAY_MS = 300_000

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

/**
 * A `kid` that is not among the keys asks the server again. The cooldown holds a flood of them off: nobody
 * knows meanwhile whether the key of a new token is a new key. While the keys cannot be read again, those
 * that were read last count.
 */
export function createIssuerKeys (
  { issuer, fetch, readMetadata }: IssuerAccess,
  { keysCooldownMs = 5000, keysMaxAgeMs = 600_000, cooldownMs = 5000, now = clock.now }: IssuerKeysOptions
): IssuerKeys {
  let current: { readonly uri: string, readonly keys: RemoteKeys } | undefined
  let readAt = -Infinity

  /** Whether the token says that it was issued after the keys were read. All known issuers write `iat`. */
  function mayHaveNewKey (beganAt: number, { payload }: FlattenedJWSInput): boolean {
    if (readAt >= beganAt) return false
    const issuedAt = readIssuedAt(payload)
    return issuedAt !== undefined && issuedAt + NEW_KEY_LEEWAY_MS >= readAt
  }

  function open (uri: string): RemoteKeys {
    const url = readEndpointUrl(uri, issuer)
    // Without a cooldown every token would ask while the keys cannot be read.
    const ask = withCooldown(async () => {
      const beganAt = now()
      const keys = await readKeys(fetch, url.href)
      readAt = beganAt
      return keys
    }, cooldownMs, now)
    return createRemoteJWKSet(url, {
      cooldownDuration: keysCooldownMs, cacheMaxAge: keysMaxAgeMs, [customFetch]: ask
    })
  }

  return async (header, token) => {
    const beganAt = now()
    try {
      const { jwks_uri: uri } = await readMetadata()
      if (uri === undefined) throw new Error('its metadata has no jwks_uri')
      if (current?.uri !== uri) current = { uri, keys: open(uri) }
      return await current.keys(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey && mayHaveNewKey(beganAt, token)) {
        throw new AuthenticationUnavailable(`The keys of ${issuer} may not be read again yet, and one is new`)
      }
      if (error instanceof AuthenticationUnavailable || isOfToken(error)) throw error
      const key = await findLastKey(current?.keys, header, token)
      if (key !== undefined) return key
      throw new AuthenticationUnavailable(`The keys of ${issuer} cannot be read: ${reasonOf(error)}`)
    }
  }
}

/** Leaves out what cannot be a key: RFC 7517, section 5. */
async function readKeys (fetch: Fetch, url: string): Promise<Response> {
  const response = await fetch(url, {})
  if (response.status !== 200) throw new Error(`${url} answered with status ${response.status}`)
  const body: unknown = await response.json().catch(() => undefined)
  if (!isObject(body) || !Array.isArray(body['keys'])) throw new Error(`${url} answered with no set of keys`)
  return Response.json({ keys: body['keys'].filter(isObject) })
}

function isObject (value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function findLastKey (
  keys: RemoteKeys | undefined, header: JWTHeaderParameters, token: FlattenedJWSInput
): Promise<CryptoKey | undefined> {
  const last = keys?.jwks()
  if (last === undefined) return undefined
  return await createLocalJWKSet(last)(header, token).catch((error: unknown) => {
    if (isOfToken(error) && !(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined
    throw error
  })
}

/** The payload is not verified yet. */
function readIssuedAt (payload: string | Uint8Array): number | undefined {
  const { iat } = JSON.parse(Buffer.from(String(payload), 'base64url').toString())
  return typeof iat === 'number' ? iat * 1000 : undefined
}

function isOfToken (error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
}
