// Hosts repeat all scopes that they have asked for when they refresh, also those that they did not get. The
// engine would refuse them, and the person would have to sign in at each refresh.

import type { KoaContextWithOIDC, Provider } from 'oidc-provider'

/** Leaves scopes out of a refresh that its token does not have. With none of them the engine refuses it. */
export function leaveOutRepeatedScopes (
  { RefreshToken }: Provider, readContext: () => KoaContextWithOIDC | undefined
): void {
  const find: (id: string, options?: object) => Promise<unknown> = RefreshToken.find.bind(RefreshToken)
  Object.defineProperty(RefreshToken, 'find', {
    async value (id: string, options?: object) {
      const token = await find(id, options)
      const params = readContext()?.oidc.params
      if (token instanceof RefreshToken && typeof params?.['scope'] === 'string') {
        const names = params['scope'].split(' ').filter((name) => token.scopes.has(name))
        if (names.length > 0) params['scope'] = names.join(' ')
      }
      return token
    }
  })
}
