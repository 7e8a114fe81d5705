// How this service proves to an authorization server which client it is.

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { PrivateKeyJwt, type ClientAuth } from 'oauth4webapi'

export interface ClientCredentials {
  readonly clientId: string
  /** Sent by HTTP Basic. */
  readonly secret?: string
  /** The text of a private key, in PEM or as a JWK. It signs an assertion (RFC 7523) instead of a secret. */
  readonly privateKey?: string
}

interface ClientKey {
  readonly key: KeyObject
  readonly alg: string
  readonly kid?: string
}

const CURVES = new Map([['prime256v1', 'ES256'], ['secp384r1', 'ES384'], ['secp521r1', 'ES512']])

/** Throws a TypeError if the private key cannot be used, or there is no credential. It never shows one. */
export function createClientAuthentication ({ secret, privateKey }: ClientCredentials): ClientAuth {
  if (privateKey === undefined) {
    if (secret) return toBasic(secret)
    throw new TypeError('the client of this service needs a secret or a private key')
  }
  const clientKey = readClientKey(privateKey)
  // Imported at the first use, because that takes a promise.
  let authentication: Promise<ClientAuth> | undefined
  return async (...request) => {
    authentication ??= toPrivateKeyJwt(clientKey)
    await (await authentication)(...request)
  }
}

async function toPrivateKeyJwt ({ key, alg, kid }: ClientKey): Promise<ClientAuth> {
  const { importPKCS8 } = await import('jose')
  const imported = await importPKCS8(key.export({ type: 'pkcs8', format: 'pem' }).toString(), alg)
  return PrivateKeyJwt({ key: imported, ...(kid !== undefined && { kid }) })
}

/**
 * Encodes only what a server could read in two ways. Many servers compare the credentials as they come; those
 * that decode them read both forms. RFC 6749, section 2.3.1.
 */
function toBasic (secret: string): ClientAuth {
  const encode = (text: string, plain: RegExp) =>
    Array.from(text, (letter) => plain.test(letter) ? letter : encodeURIComponent(letter)).join('')
  return (_server, { client_id: id }, _body, headers) => {
    const name = encode(id, /[\x21-\x24\x26-\x2a\x2c-\x39\x3b-\x7e]/)
    headers.set('authorization', `Basic ${btoa(`${name}:${encode(secret, /[\x21-\x24\x26-\x2a\x2c-\x7e]/)}`)}`)
  }
}

function readClientKey (text: string): ClientKey {
  try {
    if (!text.trimStart().startsWith('{')) {
      const key = createPrivateKey(text)
      return { key, alg: algorithmOf(key) }
    }
    const jwk = JSON.parse(text)
    const key = createPrivateKey({ key: jwk, format: 'jwk' })
    return {
      key,
      alg: typeof jwk.alg === 'string' ? jwk.alg : algorithmOf(key),
      ...(typeof jwk.kid === 'string' && { kid: jwk.kid })
    }
  } catch {
    // The error of the parser may quote the key.
    throw new TypeError('the private key must be RSA, EC or Ed25519, in PEM without a password or as a JWK')
  }
}

function algorithmOf ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  const alg = asymmetricKeyType === 'ec'
    ? CURVES.get(asymmetricKeyDetails?.namedCurve ?? '')
    : new Map([['rsa', 'RS256'], ['ed25519', 'EdDSA']]).get(asymmetricKeyType ?? '')
  if (alg === undefined) throw new TypeError('the kind of the key is not known')
  return alg
}
