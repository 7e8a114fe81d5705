// Revocation by access tokens: RFC 7009. The engine refuses them after it has authenticated the client: they
// are JWTs, of which it keeps nothing.

import type { KoaContextWithOIDC } from 'oidc-provider'
import type { TokenVerifier } from '../../../platform/access/token.ts'
import { AuthenticationError } from '../../../platform/access/authentication.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import { grantOf } from '../grants/provider-tokens.ts'

/** The error with which the engine refuses an access token. */
export const UNSUPPORTED = 'unsupported_token_type'

/** Returns what ends the grant of an access token, after the engine has refused it. */
export function createRevocation (verifier: TokenVerifier, grants: Pick<GrantRecords, 'remove'>) {
  return async (ctx: KoaContextWithOIDC): Promise<void> => {
    const { client, params, provider } = ctx.oidc
    try {
      const principal = await verifier.verify(String(params?.['token']))
      const grant = grantOf(principal)
      // A token of another client stays.
      if (grant !== undefined && principal.clientId === client?.clientId) await grants.remove(grant)
    } catch (error) {
      // A token that does not count is as good as revoked.
      if (!(error instanceof AuthenticationError)) {
        provider.emit('server_error', ctx, error)
        Object.assign(ctx, { status: 503, body: { error: 'temporarily_unavailable' } })
        return
      }
    }
    Object.assign(ctx, { status: 200, body: '' })
  }
}
