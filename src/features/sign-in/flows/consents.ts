// What a person is consent, and what proves that the person has seen it and said yes.

import { hash } from 'node:crypto'
import { isInside } from '../../../base/addresses.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import { toEnd, type Cookie, type Cookies } from './cookies.ts'

/** What the consent page asks. */
export interface Consent {
  readonly clientId: string
  readonly clientName: string | undefined
  /** The host of the client's metadata document. Absent for a client that has registered itself. */
  readonly clientHost: string | undefined
  /** Changes with what the client says of itself. */
  readonly version: string
  readonly redirectUri: string
  readonly scopes: readonly string[]
}

/** A consent that a browser remembers. */
interface RememberedConsent {
  readonly subject: string
  /** In milliseconds since the epoch. */
  readonly since: number
}

/** What the engine knows of a flow, and of its client. */
type FlowMembers = Readonly<Record<string, unknown>>

const PREFIX = 'consent-'
const FORM = 'sign-in consent'
const REMEMBERED = 'sign-in remembered consent'
const REMEMBERED_SECONDS = 30 * 24 * 3600

/**
 * @param params of the flow.
 * @param metadata what the client says of itself.
 * @param offered the scopes that somebody can have.
 */
export function toConsent (
  params: FlowMembers, metadata: FlowMembers, offered: readonly string[]
): Consent {
  const clientId = String(params.client_id)
  const { client_name: name } = metadata
  return {
    clientId,
    clientName: typeof name === 'string' && name !== '' ? name : undefined,
    clientHost: clientId.startsWith('https:') ? new URL(clientId).host : undefined,
    version: hash('sha256', JSON.stringify(metadata), 'base64url'),
    redirectUri: String(params.redirect_uri),
    scopes: String(params.scope ?? '').split(' ').filter((scope) => offered.includes(scope))
  }
}

/** Forgets all consents that a browser remembers. */
export function forgetConsents (cookies: Cookies): readonly Cookie[] {
  return cookies.list(PREFIX).map(toEnd)
}

/** Names all that a consent is bound to, but for the person. */
export function fingerprintOf ({ clientId, version, redirectUri, scopes }: Consent): string {
  return hash('sha256', JSON.stringify([clientId, version, redirectUri, scopes.toSorted()]), 'base64url')
}

/** Other programs of a computer can take the loopback addresses and the schemes of a client. */
function mayBeRemembered ({ clientHost, redirectUri }: Consent): boolean {
  const { protocol, hostname } = new URL(redirectUri)
  return clientHost !== undefined && protocol === 'https:' && !isInside(hostname)
}

export function createConsents (sealer: Pick<Sealer, 'seal' | 'open'>, now: () => number) {
  const nameOf = ({ clientId, redirectUri }: Consent) => (
    `${PREFIX}${hash('sha256', `${clientId} ${redirectUri}`, 'base64url').slice(0, 22)}`
  )
  const expiry = (seconds: number) => now() + seconds * 1000
  return {
    /** Makes the token of the form. Other sites have none, and a page that is out of date has another. */
    toFormToken: (flow: string, consent: Consent, seconds: number) => (
      sealer.seal(FORM, `${flow} ${fingerprintOf(consent)}`, Buffer.alloc(0), expiry(seconds))
    ),
    isOfForm: (flow: string, consent: Consent, token: string) => (
      sealer.open(FORM, `${flow} ${fingerprintOf(consent)}`, token) !== undefined
    ),
    /** Returns the cookie that remembers a consent, and none for one that must be asked each time. */
    remember (consent: Consent, subject: string): readonly Cookie[] {
      if (!mayBeRemembered(consent)) return []
      const bytes = Buffer.from(`${now()} ${subject}`)
      const value = sealer.seal(REMEMBERED, fingerprintOf(consent), bytes, expiry(REMEMBERED_SECONDS))
      return [{ name: nameOf(consent), value, seconds: REMEMBERED_SECONDS }]
    },
    forget: (consent: Consent): Cookie => toEnd(nameOf(consent)),
    /** Returns the person who has allowed the same before in this browser, and when. */
    recall (consent: Consent, cookies: Cookies): RememberedConsent | undefined {
      const cookie = mayBeRemembered(consent) ? cookies.read(nameOf(consent)) : undefined
      const bytes = cookie === undefined ? undefined : sealer.open(REMEMBERED, fingerprintOf(consent), cookie)
      const [, since, subject] = /^(\d+) (.*)$/s.exec(String(bytes ?? '')) ?? []
      return subject === undefined ? undefined : { subject, since: Number(since) }
    }
  }
}
