// The ids of clients that have registered themselves: RFC 7591. An id is the sealed metadata of its client,
// so registrations take no room.

import { errors } from 'oidc-provider'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'

/** What a client says of itself. */
export interface ClientMetadata { readonly [member: string]: unknown }

const PURPOSE = 'sign-in client'
const PREFIX = 'registered-'
/**
 * The members that count. All clients are public: a secret would be in the id. Each is treated as a native
 * client: its redirects are https, on loopback, or of a scheme of its own.
 */
const MEMBERS = ['redirect_uris', 'client_name']
/** Ids are in URLs and in access tokens. */
const MAX_BYTES = 2048
const MAX_REDIRECTS = 20
/** What a client learns of its registration. */
const ANSWERED = [
  ...MEMBERS, 'client_id', 'client_id_issued_at', 'token_endpoint_auth_method', 'grant_types',
  'response_types', 'application_type'
]
/** An id counts as long as its secret. A later time does not fit. */
const NEVER = 2 ** 47

export type Registrations = ReturnType<typeof createRegistrations>

export function createRegistrations (sealer: Pick<Sealer, 'seal' | 'open'>) {
  return {
    /** Returns what counts of the metadata. Some clients send empty texts. */
    select: (metadata: ClientMetadata): ClientMetadata => select(metadata, MEMBERS),
    toAnswer: (metadata: ClientMetadata): ClientMetadata => select(metadata, ANSWERED),
    /** Throws an InvalidClientMetadata. */
    toId (metadata: ClientMetadata): string {
      const { redirect_uris: uris } = metadata
      const bytes = Buffer.from(JSON.stringify(metadata))
      if (bytes.length > MAX_BYTES || (Array.isArray(uris) && uris.length > MAX_REDIRECTS)) {
        throw new errors.InvalidClientMetadata('the metadata is too large')
      }
      return PREFIX + sealer.seal(PURPOSE, '', bytes, NEVER)
    },
    read (id: string): ClientMetadata | undefined {
      if (!id.startsWith(PREFIX)) return undefined
      const bytes = sealer.open(PURPOSE, '', id.slice(PREFIX.length))
      const metadata: unknown = bytes && JSON.parse(String(bytes))
      return isObject(metadata) ? { ...metadata, client_id: id } : undefined
    }
  }
}

function select (metadata: ClientMetadata, names: readonly string[]): ClientMetadata {
  const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
  return Object.fromEntries(names.flatMap((name) => isEmpty(metadata[name]) ? [] : [[name, metadata[name]]]))
}
