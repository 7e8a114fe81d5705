// Revocation by access tokens: RFC 7009. The engine refuses them after it has authenticated the client: they
// are JWTs, of which it keeps nothing.

import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { TokenVerifier } from '../../../platform/access/token.ts'
import { AuthenticationError } from '../../../platform/access/authentication.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import { grantOf } from '../grants/provider-tokens.ts'

export function registerRevocation (
  engine: Provider, verifier: TokenVerifier, grants: Pick<GrantRecords, 'remove'>
): void {
  /** A token that does not count is as good as revoked. One of another client stays. */
  async function revoke (token: string, clientId: string): Promise<void> {
    const principal = await verifier.verify(token).catch((error: unknown) => {
      if (!(error instanceof AuthenticationError)) throw error
    })
    const grant = principal && grantOf(principal)
    if (grant !== undefined && principal?.clientId === clientId) await grants.remove(grant)
  }

  engine.use(async (ctx: KoaContextWithOIDC, next) => {
    await next()
    // Requests for other paths reach no route of the engine.
    const { oidc }: { readonly oidc?: KoaContextWithOIDC['oidc'] } = ctx
    if (oidc?.route !== 'revocation' || readCode(ctx.body) !== 'unsupported_token_type') return
    const { client, params } = oidc
    try {
      if (client !== undefined) await revoke(String(params?.['token']), client.clientId)
      Object.assign(ctx, { status: 200, body: '' })
    } catch (error) {
      oidc.provider.emit('server_error', ctx, error instanceof Error ? error : new Error(String(error)))
      Object.assign(ctx, { status: 503, body: { error: 'temporarily_unavailable' } })
    }
  })
}

function readCode (body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
}
