// The caller of a request to `trivet dev`: the author picks one, and nothing proves it.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AuthenticationError, type Authenticator } from '../../platform/access/authentication.ts'
import { isAnonymous, type Principal } from '../../platform/access/principal.ts'
import { readBearerToken } from '../../platform/access/token.ts'
import { random } from '../../base/time.ts'

/** A caller as the page names it. */
export interface PickedCaller {
  readonly subject?: string | undefined
  readonly clientId?: string | undefined
  readonly scopes: readonly string[]
  readonly claims?: { readonly [name: string]: unknown } | undefined
}

/** Begins the tokens of the console. Other tokens are ignored, as without authentication. */
const PREFIX = 'trivet-console'
const KEY_BYTES = 32
const MAX_CALLERS = 100
/** The most bytes of a caller as JSON: its token must fit into the headers of a request. */
const MAX_CALLER_BYTES = 8192

/**
 * Makes a token for each picked caller. The tokens are signed with a key of this process, so that only the
 * console can make them.
 */
export class PickedCallers implements Authenticator {
  readonly admitsAnonymous: boolean
  readonly #key = random.bytes(KEY_BYTES)
  /** The caller of a request without a token of the console. */
  readonly unnamed: PickedCaller
  readonly #unnamedPrincipal: Principal
  /** The principal of each token. */
  readonly #principals = new LRUCache<string, Principal>({ max: MAX_CALLERS })

  constructor (unnamed: PickedCaller) {
    this.unnamed = unnamed
    this.#unnamedPrincipal = toPrincipal(unnamed)
    this.admitsAnonymous = isAnonymous(this.#unnamedPrincipal) && unnamed.scopes.length === 0
  }

  authenticate (authorization: string | undefined): Principal {
    const token = readBearerToken(authorization)
    if (token?.startsWith(`${PREFIX}.`) !== true) return this.#unnamedPrincipal
    const principal = this.#principals.get(token) ?? toPrincipal(this.#read(token))
    this.#principals.set(token, principal)
    return principal
  }

  /**
   * Returns a token that `authenticate` takes as this caller until the process ends. Throws a TypeError for a
   * caller that is too large.
   */
  sign (caller: PickedCaller): string {
    const json = Buffer.from(JSON.stringify(caller))
    if (json.length > MAX_CALLER_BYTES) {
      const problem = `a caller has at most ${MAX_CALLER_BYTES} bytes as JSON`
      throw new TypeError(`${problem}, and this one has ${json.length}`)
    }
    const body = json.toString('base64url')
    return `${PREFIX}.${body}.${this.#sealOf(body).toString('base64url')}`
  }

  #read (token: string): PickedCaller {
    const [, body = '', seal = '', ...excess] = token.split('.')
    const expected = this.#sealOf(body)
    const received = Buffer.from(seal, 'base64url')
    if (excess.length > 0 || received.length !== expected.length || !timingSafeEqual(received, expected)) {
      throw new AuthenticationError('invalid_token', 'the token is of a console that has ended')
    }
    return JSON.parse(Buffer.from(body, 'base64url').toString())
  }

  #sealOf (body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest()
  }
}

function toPrincipal ({ subject, clientId, scopes, claims }: PickedCaller): Principal {
  return {
    scopes: new Set(scopes),
    ...subject !== undefined && { subject },
    ...clientId !== undefined && { clientId },
    ...claims !== undefined && { claims }
  }
}
