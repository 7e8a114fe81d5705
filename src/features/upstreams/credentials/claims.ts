// Says to an upstream who calls, with headers and with a JWT that are made of the verified claims.

import type { KeyObject } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Claims } from '../../../platform/access/claims.ts'
import { isAnonymous, type Principal } from '../../../platform/access/principal.ts'
import type { SignedInCallers } from '../../../platform/access/signed-in-callers.ts'
import type { ClaimsAuth } from '../../../platform/author/upstream-auth.ts'
import { clock, random } from '../../../base/time.ts'
import { quote } from '../../../base/words.ts'
import { HEADER_NAME, HEADER_VALUE, isOfConnection } from '../request-head.ts'
import { toCredentialError } from './bearer-token.ts'
import { CredentialError, type Credential, type CredentialHeaders } from './credential.ts'

/** Signs the JWTs of this service. */
export interface ServiceSigner {
  /** TRIVET_PUBLIC_URL. */
  readonly issuer: string
  readonly key: KeyObject
  readonly kid: string
  /** The header `typ`. `JWT` by default. */
  readonly type?: string
  /** Claims that say what the issuer is. */
  readonly mark?: Claims
}

interface ClaimsDependencies {
  /** Throws if this service cannot sign. */
  readonly openSigner: (principal: Principal) => ServiceSigner
  readonly readClaims: SignedInCallers['readClaims']
}

type JwtAuth = NonNullable<ClaimsAuth['jwt']>

const LIFE_SECONDS = 60
/** Servers refuse requests with more. */
const MAX_CHARS = 8192
/** Claims that this service decides. */
const OWN_CLAIMS = ['iss', 'aud', 'iat', 'nbf', 'exp', 'jti']

/**
 * The functions of the author get the verified claims. A static token has only its subject and its client. An
 * error of a function may quote claims, so only its name is passed on.
 */
export function createClaimsCredential (
  { headers, jwt }: ClaimsAuth, { openSigner, readClaims: readMore }: ClaimsDependencies
): Credential {
  async function sign ({ audience, claims }: JwtAuth, principal: Principal): Promise<string> {
    const ownClaims = claims === undefined ? {} : readClaims(run('auth.jwt.claims', claims, principal))
    const signer = openSigner(principal)
    const iat = Math.floor(clock.now() / 1000)
    const times = { iat, exp: iat + LIFE_SECONDS }
    const ownIdentity = { ...toIdentity(principal), ...ownClaims, ...signer.mark, iss: signer.issuer }
    const token = await toJwt({ ...ownIdentity, aud: audience, ...times, jti: random.uuid() }, signer)
    if (token.length > MAX_CHARS) throw unusable(`the JWT of auth.jwt has more than ${MAX_CHARS} characters`)
    return token
  }

  function toHeaders (principal: Principal): CredentialHeaders | Promise<CredentialHeaders> {
    const ownHeaders = headers === undefined ? {} : readHeaders(run('auth.headers', headers, principal))
    if (jwt === undefined) return ownHeaders
    return sign(jwt, principal).then((token) => ({ ...ownHeaders, authorization: `Bearer ${token}` }))
  }

  return {
    headers ({ principal }) {
      if (isAnonymous(principal)) throw new CredentialError('caller', 'an anonymous caller has no claims')
      return readMore(principal)?.then(
        (claims) => toHeaders({ ...principal, claims }),
        (error: unknown) => { throw toCredentialError(error, 'caller') }
      ) ?? toHeaders(principal)
    }
  }
}

/** A client without a subject must not be taken for the subject of its name: it is named as a client too. */
function toIdentity ({ subject, clientId }: Principal): JWTPayload {
  const sub = subject ?? clientId
  return {
    ...(sub !== undefined && { sub }), ...(clientId !== undefined && { client_id: clientId })
  }
}

/** A picked caller and a static token have no claims with their names. */
function claimsOf ({ claims, subject, clientId }: Principal): Claims {
  return {
    ...(subject !== undefined && { sub: subject }),
    ...(clientId !== undefined && { client_id: clientId }),
    ...claims
  }
}

/** Returns the members that a function of the author returned. Members may be getters. */
function run (name: string, make: (claims: Claims) => unknown, principal: Principal): Claims {
  let members: Claims | undefined
  try {
    const value = make(claimsOf(principal))
    // What it rejects with may quote a claim, and nobody waits for it.
    if (value instanceof Promise) value.catch(() => {})
    members = isPlainObject(value) ? { ...value } : undefined
  } catch (error) {
    const kind = error instanceof Error && /^[A-Z]\w{0,39}$/.test(error.name) ? error.name : 'an error'
    throw unusable(`the function ${name} threw ${kind}`)
  }
  if (members !== undefined) return members
  throw unusable(`the function ${name} must return an object, such as { 'x-user': claims.sub }`)
}

function unusable (problem: string): CredentialError {
  return new CredentialError('caller', problem)
}

function readHeaders (value: Claims): CredentialHeaders {
  const headers = new Map<string, string>()
  let chars = 0
  for (const [key, text] of Object.entries(value)) {
    const name = key.toLowerCase()
    const problem = findHeaderProblem(name, text)
    if (problem !== undefined) throw unusable(`the function auth.headers returned ${problem}`)
    if (headers.has(name)) throw unusable(`the function auth.headers returned ${name} twice`)
    headers.set(name, String(text))
    chars += name.length + String(text).length
  }
  if (chars > MAX_CHARS) throw unusable(`auth.headers returned more than ${MAX_CHARS} characters`)
  return Object.fromEntries(headers)
}

/** The value may be a claim: it is not quoted. */
function findHeaderProblem (name: string, value: unknown): string | undefined {
  if (!HEADER_NAME.test(name)) return 'a name that no header can have'
  if (name === 'authorization' || isOfConnection(name)) return `${quote(name)}, which a definition cannot set`
  if (typeof value !== 'string') return `${quote(name)} with a value that is not a text`
  if (HEADER_VALUE.test(value)) return undefined
  return `${quote(name)} with characters that no header can have: encode them`
}

function readClaims (value: Claims): Claims {
  const ownClaim = OWN_CLAIMS.find((name) => Object.hasOwn(value, name))
  if (ownClaim !== undefined) throw unusable(`auth.jwt.claims returned ${ownClaim}, which this service sets`)
  // A claim that the token lacks must not become a JWT about nobody.
  const { sub } = value
  if (!Object.hasOwn(value, 'sub') || (typeof sub === 'string' && sub !== '')) return value
  throw unusable('the function auth.jwt.claims returned a sub that is not a text, or an empty one')
}

async function toJwt (payload: JWTPayload, { key, kid, type: typ = 'JWT' }: ServiceSigner): Promise<string> {
  // A service without tokens never loads the library.
  const { SignJWT } = await import('jose')
  try {
    return await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(key)
  } catch {
    // The error of the library may quote a claim.
    throw unusable('the function auth.jwt.claims returned what is no JSON')
  }
}

/** A Map, or the class Headers, has no members that say what is in it. */
function isPlainObject (value: unknown): value is Claims {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
