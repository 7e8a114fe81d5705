// Sessions that nobody keeps: all that a session is lies in its id, sealed, so that any replica serves it,
// across a deploy.

import { randomBytes } from 'node:crypto'
import { ownerOf, type Principal } from '../access/principal.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import { toImplementation } from '../protocol/envelope.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { createRecent } from './recent.ts'
import type { Session, Settled } from './session.ts'

export interface Sessions {
  /** The session's id as the client gets it: visible ASCII. */
  create (settled: Settled, principal: Principal): string
  /** `undefined` for what is forged, expired, ended or somebody else's: the caller must not learn which. */
  open (token: string, principal: Principal): Session | undefined
  /** How many are remembered at the moment. */
  readonly remembered: number
  close (): void
}

export interface SessionsOptions {
  readonly sealer: Sealer
  readonly ended: EndedSessions
  /** How long a session lasts, in milliseconds. */
  readonly ttlMs: number
  readonly now?: () => number
}

const PURPOSE = 'session'
const ID_BYTES = 16
/**
 * What a client says of itself travels with each of its requests, in a header: proxies take some 8,000 bytes.
 */
const MAX_SETTLED_BYTES = 3000
const RECENT = { max: 1000, idleMs: 30_000 }

export function createSessions ({ sealer, ended, ttlMs, now = Date.now }: SessionsOptions): Sessions {
  // Opening a token costs as much as a good part of a call.
  const recent = createRecent<string, Session>(RECENT)

  function unseal (token: string, owner: string): Session | undefined {
    const bytes = sealer.open(PURPOSE, owner, token)
    const session = bytes === undefined ? undefined : readSession(JSON.parse(bytes.toString()), owner)
    if (session !== undefined) recent.set(token, session)
    return session
  }

  return {
    create (settled, principal) {
      const expiresAt = now() + ttlMs
      const body = { id: randomBytes(ID_BYTES).toString('base64url'), expiresAt, ...toBounded(settled) }
      return sealer.seal(PURPOSE, ownerOf(principal), Buffer.from(JSON.stringify(body)), expiresAt)
    },
    open (token, principal) {
      const owner = ownerOf(principal)
      const known = recent.get(token)
      const session = known?.owner === owner ? known : unseal(token, owner)
      return session === undefined || session.expiresAt <= now() || ended.has(session.id)
        ? undefined
        : session
    },
    get remembered () { return recent.size },
    close () { recent.close() }
  }
}

/** Whole where it is small; else only what the service itself goes by. */
function toBounded (settled: Settled): Settled {
  const isSmall = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '') <= MAX_SETTLED_BYTES
  if (isSmall(settled)) return settled
  const { revision, clientInfo, clientCapabilities: { elicitation, sampling, roots } } = settled
  const clientCapabilities = {
    ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots })
  }
  const name = clientInfo === undefined
    ? undefined
    : { name: clientInfo.name.slice(0, 200), version: clientInfo.version.slice(0, 100) }
  return {
    revision,
    clientInfo: name,
    clientCapabilities: isSmall(clientCapabilities) ? clientCapabilities : toBare(clientCapabilities)
  }
}

/** The settings of the capabilities as the specification names them, and no others. */
function toBare ({ elicitation, sampling, roots }: ClientCapabilities): ClientCapabilities {
  const pick = (settings: { [key: string]: unknown }, ...names: string[]) => Object.fromEntries(
    names.filter((name) => isObject(settings[name])).map((name) => [name, {}])
  )
  return {
    ...(elicitation && { elicitation: pick(elicitation, 'form', 'url') }),
    ...(sampling && { sampling: pick(sampling, 'tools', 'context') }),
    ...(roots && { roots: {} })
  }
}

/** Sealed by us, but perhaps by another release. */
function readSession (body: unknown, owner: string): Session | undefined {
  if (!isObject(body)) return undefined
  const { id, revision, clientInfo, clientCapabilities, expiresAt } = body
  if (
    typeof id !== 'string' || typeof revision !== 'string' || typeof expiresAt !== 'number' ||
      !isObject(clientCapabilities)
  ) {
    return undefined
  }
  return { id, owner, revision, clientInfo: toImplementation(clientInfo), clientCapabilities, expiresAt }
}
