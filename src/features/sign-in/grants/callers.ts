// What upstreams get of callers who have signed in here: what the identity provider gave with their grants.
// It is found by the principal: no handler and no log line gets it.

import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import type { Claims } from '../../../platform/access/claims.ts'
import type { Principal } from '../../../platform/access/principal.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import { grantOf, type ProviderTokenStore } from './provider-tokens.ts'

export function createCallers (issuer: string, providerTokens: Pick<ProviderTokenStore, 'read'>) {
  const nameOf = (principal: Principal) => principal.issuer === issuer ? grantOf(principal) : undefined

  async function read (grant: string): ReturnType<typeof providerTokens.read> {
    return await providerTokens.read(grant).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error
      throw new AuthenticationUnavailable('the grant of the caller cannot be read', { cause: error })
    })
  }

  return {
    nameOf,
    async read (principal: Principal): Promise<string | undefined> {
      const grant = nameOf(principal)
      return grant === undefined ? undefined : (await read(grant))?.tokens.accessToken
    },
    /** Resolves to the claims of the last ID token, with the client and the scopes of the principal. */
    readClaims (principal: Principal): Promise<Claims> | undefined {
      const grant = nameOf(principal)
      const { clientId, scopes } = principal
      return grant === undefined
        ? undefined
        : read(grant).then((vouched) => {
          if (vouched === undefined) throw new AuthenticationUnavailable('the grant of the caller has ended')
          return { ...vouched.claims, client_id: clientId, scope: [...scopes].join(' ') }
        })
    }
  }
}
