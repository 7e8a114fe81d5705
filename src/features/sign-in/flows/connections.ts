// What a person has connected: the person signs in at a page of the service, looks at it, and ends it.

import { clock, random } from '../../../base/time.ts'
import { clip } from '../../../base/words.ts'
import { readClaim, type Claims } from '../../../platform/access/claims.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import type { GrantedClient, GrantRecords } from '../grants/grant-records.ts'
import type { IdentityProvider } from '../people/identity-provider.ts'
import { forgetConsents } from './consents.ts'
import { toEnd, type Cookie, type Cookies } from './cookies.ts'
import type { EndedConsents } from './ended-consents.ts'
import type { Identify } from './identify.ts'
import type { Passages, SealedPassage } from './passages.ts'
import type { Step } from './steps.ts'

export interface ConnectionsOptions {
  /** The address of the page. */
  readonly url: string
  readonly grants: GrantRecords
  readonly endedConsents: EndedConsents
  readonly identityProvider: IdentityProvider
  readonly identify: Identify
  readonly passages: Passages
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
}

export interface ConnectedClient extends GrantedClient {
  readonly id: string
  /** When the client last asked for a token, in milliseconds since the epoch. */
  readonly usedAt: number
}

export interface SignedIn {
  readonly subject: string
  /** What the identity provider calls the person. */
  readonly name: string
  /** For the forms of the page. */
  readonly token: string
}

export type Connections = ReturnType<typeof createConnections>

const COOKIE = 'page'
const SIGNED_IN = 'sign-in page'
const FORM = 'sign-in page form'
const SIGNED_IN_SECONDS = 3600
const NAMES = ['preferred_username', 'email', 'name', 'sub']

export function createConnections (
  { url, grants, endedConsents, identityProvider, identify, passages, sealer }: ConnectionsOptions
) {
  const expiry = () => clock.now() + SIGNED_IN_SECONDS * 1000

  function toCookie (subject: string, claims: Claims): Cookie {
    const names = NAMES.map((claim) => readClaim(claims, claim))
    const name = names.find((text) => typeof text === 'string') ?? subject
    const bytes = Buffer.from(JSON.stringify({ subject, name: clip(String(name)) }))
    return { name: COOKIE, value: sealer.seal(SIGNED_IN, '', bytes, expiry()), seconds: SIGNED_IN_SECONDS }
  }

  return {
    url,
    /** Sends the person to the identity provider. */
    async begin (): Promise<Step> {
      const { passage, cookie } = passages.create(random.name(16), {})
      return { kind: 'go', url: await identityProvider.begin(passage), cookies: [cookie] }
    },

    /** The person is back from there. */
    async finish (query: string, passage: SealedPassage): Promise<Step> {
      const arrival = await identify(query, passage)
      if (arrival === undefined) return { kind: 'go', url }
      if (arrival.kind === 'refused') return { ...arrival, again: url }
      const cookies = [passages.end(passage.state), toCookie(arrival.person.subject, arrival.claims)]
      return { kind: 'go', outcome: 'finished', url, cookies }
    },

    /** Returns `undefined` for a browser in which nobody has signed in for an hour. */
    read (cookies: Cookies): SignedIn | undefined {
      const cookie = cookies.read(COOKIE) ?? ''
      const bytes = sealer.open(SIGNED_IN, '', cookie)
      const value: unknown = bytes && JSON.parse(String(bytes))
      if (!isObject(value)) return undefined
      const token = sealer.seal(FORM, cookie, Buffer.alloc(0), expiry())
      return { subject: String(value.subject), name: String(value.name), token }
    },

    /** Whether a form is one of the page that this browser was given. */
    isOfForm: (cookies: Cookies, token: string): boolean => (
      sealer.open(FORM, cookies.read(COOKIE) ?? '', token) !== undefined
    ),

    async list ({ subject }: SignedIn): Promise<readonly ConnectedClient[]> {
      const all = await Promise.all((await grants.list(subject)).map(async (id) => {
        const record = await grants.read(id)
        return record && { ...record.about, id, usedAt: record.refresh?.rotatedAt ?? record.about.createdAt }
      }))
      return all.filter((connection) => connection !== undefined)
        .toSorted((first, second) => second.usedAt - first.usedAt)
    },

    /**
     * Ends one of the person's connections, or all of them. Browsers forget what was allowed: the person is
     * asked again if a client connects again.
     */
    async end ({ subject }: SignedIn, id: string | 'all', cookies: Cookies): Promise<readonly Cookie[]> {
      await endedConsents.end(subject)
      const ids = await grants.list(subject)
      await Promise.all(ids.filter((grant) => id === 'all' || grant === id).map(grants.remove))
      return forgetConsents(cookies)
    },

    signOut: (): Cookie => toEnd(COOKIE)
  }
}
