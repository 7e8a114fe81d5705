// The metadata documents of clients: the id of such a client is the URL of its document. Fetched from the
// internet, or pinned by the operator.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration

import { LRUCache } from 'lru-cache'
import { errors } from 'oidc-provider'
import { createCounts } from '../../../base/counts.ts'
import { limitRepeats } from '../../../base/outage-log.ts'
import { clock } from '../../../base/time.ts'
import { clip } from '../../../base/words.ts'
import { reasonOf } from '../../../platform/access/authentication.ts'
import { AddressRefused } from '../../../platform/access/checked-lookup.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { createPublicFetch, type PublicFetch } from './public-fetch.ts'

/** Which clients may sign people in. */
export interface ClientRules {
  /** The hosts whose documents count, with their port if it is another one than 443. Absent: all hosts. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Copies that count instead of what the internet has, by the URL of the document. */
  readonly documents: ReadonlyMap<string, unknown>
  /** Whether clients may register themselves. */
  readonly registration: boolean
}

export interface DocumentsOptions extends Pick<ClientRules, 'allowedHosts' | 'documents'> {
  readonly log: { warn (fields: object, message: string): void }
  readonly fetch?: PublicFetch
}

/** The message has no reason: a host may be one of a private network. */
export class DocumentUnavailable extends errors.InvalidClient {}

export type Documents = ReturnType<typeof createDocuments>

/** How long an answer counts at least, a failure too. In milliseconds. */
const MIN_AGE_MS = 30_000
const MAX_ANSWERS = 100
/** How many documents one network may wait for at once. */
const MAX_ASKING = 20
/** What counts of a document. The engine refuses documents with a secret. */
const MEMBERS = [
  'client_id', 'client_name', 'redirect_uris', 'token_endpoint_auth_method',
  'token_endpoint_auth_signing_alg', 'jwks', 'jwks_uri', 'client_secret', 'client_secret_expires_at'
]

export function createDocuments (
  { allowedHosts, documents, log, fetch = createPublicFetch() }: DocumentsOptions
) {
  const answers = new LRUCache<string, { readonly answer: Promise<Response>, readonly until: number }>({
    max: MAX_ANSWERS
  })
  const warn = limitRepeats((failure: object, failures: number) => {
    log.warn({ ...failure, failures }, 'the metadata document of a client cannot be read')
  })
  const asking = createCounts()

  /** Asks once for all callers. Rejects with a DocumentUnavailable. */
  async function read (url: string, network?: string): Promise<Response> {
    const pinned = documents.get(url)
    if (pinned !== undefined) return Response.json(pinned)
    const last = answers.get(url)
    if (last !== undefined && clock.monotonic() < last.until) return await last.answer
    if (asking.of(network) >= MAX_ASKING) {
      throw new DocumentUnavailable('Too many documents are asked for. Try again in a few seconds.')
    }
    const end = asking.add(network, 1)
    const answer = fetch(url).finally(end).catch((error: unknown) => {
      const isPrivate = error instanceof AddressRefused
      warn({ url: clip(url), reason: isPrivate ? 'its host has a private address' : reasonOf(error) })
      throw new DocumentUnavailable(`${clip(url)} cannot be read. The log of this service says why, ` +
        'and its operator can pin a copy in sign-in.yaml')
    })
    answers.set(url, { answer, until: clock.monotonic() + MIN_AGE_MS })
    return await answer
  }

  return {
    /** Whether the operator has named the client, or its host. */
    isTrusted: (id: string): boolean => (
      documents.has(id) || (URL.canParse(id) && allowedHosts?.includes(new URL(id).host) === true)
    ),
    /**
     * Rejects with an InvalidClient, whose description is for people, if the client may not sign people in.
     * @param network of the sender. Absent if no share limits it.
     */
    async check (id: string, network?: string): Promise<void> {
      const { host, href, pathname } = new URL(id)
      if (href !== id || pathname === '/') {
        throw new errors.InvalidClient('The URL of a client must have a path, and be written as browsers do.')
      }
      if (allowedHosts?.includes(host) === false && !documents.has(id)) {
        throw new errors.InvalidClient(`The operator of this service has not allowed clients of ${host}.`)
      }
      await read(id, network)
    },
    /** Fetches a document or the keys of a client. Of a document it has only what counts. */
    async fetch (url: string): Promise<Response> {
      const answer = await read(url)
      const document: unknown = await answer.clone().json()
      const isDocument = isObject(document) && 'client_id' in document
      return Response.json(
        isDocument ? Object.fromEntries(MEMBERS.map((name) => [name, document[name]])) : document,
        { headers: answer.headers }
      )
    }
  }
}
