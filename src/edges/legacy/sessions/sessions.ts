// Sessions without a record: the session id that the client sends is the sealed session itself. Any replica
// can open it, also after a deploy.

import { LRUCache } from 'lru-cache'
import { ownerOf, type Principal } from '../../../platform/access/principal.ts'
import { cut } from '../../../base/text.ts'
import { clock, random } from '../../../base/time.ts'
import { networkOf, type Sender } from '../../../platform/limits/holder.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { toImplementation } from '../../../platform/protocol/envelope.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import type { EndedSessions } from './ended-sessions.ts'
import type { Negotiated, Session } from './session.ts'

interface SessionsOptions {
  readonly sealer: Sealer
  readonly ended: EndedSessions
  /** How long a session lasts, in milliseconds. */
  readonly ttlMs: number
  readonly now?: () => number
}

const SESSION_PURPOSE = 'session'
const SESSION_ID_BYTES = 16
/** The sealed session is a header of each request, and proxies accept headers of about 8,000 bytes. */
const MAX_NEGOTIATED_BYTES = 3000
/** Opened sessions that are kept. Opening a token takes a noticeable part of a call's time. */
const MAX_RECENT = 2000

export class Sessions {
  readonly #options: Required<SessionsOptions>
  readonly #recent = new LRUCache<string, Session>({ max: MAX_RECENT })

  constructor (options: SessionsOptions) {
    this.#options = { now: clock.now, ...options }
  }

  /** Returns the value of Mcp-Session-Id: visible ASCII. */
  create (negotiated: Negotiated, sender: Sender): string {
    const { sealer, ttlMs, now } = this.#options
    const expiresAt = now() + ttlMs
    const id = random.name(SESSION_ID_BYTES)
    const body = { id, expiresAt, network: networkOf(sender), ...toBounded(negotiated) }
    return sealer.seal(
      SESSION_PURPOSE, ownerOf(sender.principal), Buffer.from(JSON.stringify(body)), expiresAt
    )
  }

  /**
   * Returns `undefined` for a token that is forged, expired, ended or of another principal: the caller must
   * not learn which.
   */
  open (token: string, principal: Principal): Session | undefined {
    const { ended, now } = this.#options
    const owner = ownerOf(principal)
    const cached = this.#recent.get(token)
    const session = cached?.owner === owner ? cached : this.#unseal(token, owner)
    return session === undefined || session.expiresAt <= now() || ended.has(session.id) ? undefined : session
  }

  #unseal (token: string, owner: string): Session | undefined {
    const bytes = this.#options.sealer.open(SESSION_PURPOSE, owner, token)
    const session = bytes === undefined ? undefined : readSession(JSON.parse(bytes.toString()), owner)
    if (session !== undefined) this.#recent.set(token, session)
    return session
  }
}

/** Returns a small value unchanged. Of a large one it keeps only the fields that the service reads. */
function toBounded (negotiated: Negotiated): Negotiated {
  const isSmall = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '') <= MAX_NEGOTIATED_BYTES
  if (isSmall(negotiated)) return negotiated
  const { revision, clientInfo, clientCapabilities: { elicitation, sampling, roots } } = negotiated
  const clientCapabilities = {
    ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots })
  }
  const name = clientInfo === undefined
    ? undefined
    : { name: cut(clientInfo.name, 200), version: cut(clientInfo.version, 100) }
  return {
    revision,
    clientInfo: name,
    clientCapabilities: isSmall(clientCapabilities) ? clientCapabilities : toBare(clientCapabilities)
  }
}

/** Keeps only the settings of capabilities that the specification names. */
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

/** Checks each member: another release may have sealed the session. */
function readSession (body: unknown, owner: string): Session | undefined {
  if (!isObject(body)) return undefined
  const { id, network, revision, clientInfo, clientCapabilities, expiresAt } = body
  if (
    typeof id !== 'string' || typeof revision !== 'string' || typeof expiresAt !== 'number' ||
      !isObject(clientCapabilities)
  ) {
    return undefined
  }
  return {
    id,
    owner,
    ...(typeof network === 'string' && { network }),
    revision,
    clientInfo: toImplementation(clientInfo),
    clientCapabilities,
    expiresAt
  }
}
