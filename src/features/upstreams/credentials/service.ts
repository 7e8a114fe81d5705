// Calls an upstream as this service, with client credentials.

import type { ClientCredentials } from '../../../platform/access/client-authentication.ts'
import { ServiceToken } from '../tokens/service-token.ts'
import type { CompiledAuth } from '../definition/compile-upstream.ts'
import { createBearerCredential, createScopeReport, type CredentialLog } from './bearer-token.ts'
import type { Credential } from './credential.ts'

/** The identity of this service at its authorization server, by the settings of the operator. */
export interface OwnClient {
  /** The first of TRIVET_AUTH_ISSUERS. */
  readonly issuer?: string | undefined
  /** TRIVET_AUTH_CLIENT_ID, with its secret or its key. */
  readonly client?: ClientCredentials | undefined
}

interface ServiceDependencies {
  readonly upstream: string
  readonly own: OwnClient
  readonly log: CredentialLog
}

/** Throws a TypeError if the issuer or the client is missing or cannot be used. It shows no secret. */
export function createServiceCredential (
  { audience, resource, scopes, ...auth }: Extract<CompiledAuth, { readonly type: 'service' }>,
  { upstream, own: ownIdentity, log }: ServiceDependencies
): Credential {
  const issuer = auth.issuer ?? ownIdentity.issuer
  if (issuer === undefined) throw new TypeError('auth.issuer is missing, and TRIVET_AUTH_ISSUERS is not set')
  const ownClient = issuer === ownIdentity.issuer ? ownIdentity.client : undefined
  const client = toClient(auth.clientId, auth.clientSecret, ownClient)
  const onMissingScopes = createScopeReport(log, upstream)
  const token = new ServiceToken({ issuer, client, target: { audience, resource, scopes, onMissingScopes } })
  return createBearerCredential({
    read: ({ signal }) => token.read(signal),
    forget: (_, refused) => token.forget(refused),
    // It is about the client of the service, whoever calls.
    refusal: 'unavailable'
  })
}

/** @param client absent for another issuer, which must not learn the secret of the first. */
function toClient (
  clientId: string | undefined, secret: string | undefined, client: ClientCredentials | undefined
): ClientCredentials {
  if (clientId !== undefined && secret !== undefined) return { clientId, secret }
  if (clientId !== undefined || secret !== undefined) {
    throw new TypeError('auth.clientId and auth.clientSecret belong together: one of them is missing')
  }
  if (client !== undefined) return client
  throw new TypeError('auth needs clientId and clientSecret. TRIVET_AUTH_CLIENT_ID with its secret or key ' +
    'takes their place at the first of TRIVET_AUTH_ISSUERS alone')
}
