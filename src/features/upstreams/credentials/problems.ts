// What is wrong with the `auth` of an upstream, as far as a load can know it.

import type { ExchangeForm } from '../../../platform/access/token-rules.ts'
import type { UpstreamAuth } from '../../../platform/author/upstream-auth.ts'

/** What the settings of the operator say. */
export interface AccessFacts {
  /** TRIVET_AUTH. */
  readonly modes: readonly string[]
  /** TRIVET_AUTH_ISSUERS. */
  readonly issuers: readonly string[]
  /** What proves TRIVET_AUTH_CLIENT_ID. Absent if one of the two is not set. */
  readonly client?: 'secret' | 'key' | undefined
  /** TRIVET_PUBLIC_URL. */
  readonly publicUrl?: string | undefined
  /** How the issuers of TRIVET_AUTH_PRESET exchange tokens. */
  readonly form?: ExchangeForm | undefined
  /** Whether a program that embeds the service finds the principals itself. */
  readonly hasOwnAuthenticator?: boolean | undefined
  /** Whether an issuer of this process vouches for callers that the author picks. */
  readonly hasDesk?: boolean | undefined
}

const CLIENT = 'TRIVET_AUTH_CLIENT_ID with TRIVET_AUTH_CLIENT_SECRET or TRIVET_AUTH_CLIENT_KEY'

/** Returns the problems of the definition under these settings, without the name of its file. */
export function problemsOf<V> (auth: UpstreamAuth<V>, facts: AccessFacts): string[] {
  switch (auth.type) {
    case 'none':
    case 'secret':
    case 'basic':
      return []
    case 'service': return pick(findServiceProblems(auth, facts))
    case 'exchange': return pick(findExchangeProblems(auth, facts))
    case 'claims': return pick(findClaimsProblems(auth, facts))
  }
}

type Checks = ReadonlyArray<readonly [isFound: boolean, problem: string]>
type AuthOf<V, T> = Extract<UpstreamAuth<V>, { readonly type: T }>

function pick (checks: Checks): string[] {
  return checks.flatMap(([isFound, problem]) => isFound ? [problem] : [])
}

function findServiceProblems<V> (
  { issuer, clientId, clientSecret }: AuthOf<V, 'service'>, { issuers, client }: AccessFacts
): Checks {
  const hasOwnClient = clientId !== undefined && clientSecret !== undefined
  const isHalf = (clientId === undefined) !== (clientSecret === undefined)
  // Settings may name the first issuer again.
  const isStranger = typeof issuer === 'string' && issuer !== issuers[0]
  return [
    [
      issuer === undefined && issuers.length === 0,
      'auth.issuer is missing, and TRIVET_AUTH_ISSUERS is not set'
    ],
    [isHalf, 'auth.clientId and auth.clientSecret belong together: one of them is missing'],
    [
      !isHalf && !hasOwnClient && isStranger,
      'auth.issuer is not the first of TRIVET_AUTH_ISSUERS, so auth needs clientId and clientSecret: the ' +
        'secret of TRIVET_AUTH_CLIENT_ID is for that one alone'
    ],
    [
      !isHalf && !hasOwnClient && !isStranger && client === undefined,
      `auth needs clientId and clientSecret, or ${CLIENT}`
    ]
  ]
}

function findExchangeProblems (
  { audience, resource, scopes = [] }: AuthOf<unknown, 'exchange'>, facts: AccessFacts
): Checks {
  const { modes, issuers, client, form, hasOwnAuthenticator = false, hasDesk = false } = facts
  const asksServer = modes.includes('jwt') || modes.includes('introspection')
  const signsIn = modes.includes('sign-in')
  const isDelegated = form === 'on-behalf-of'
  return [
    [
      hasOwnAuthenticator,
      "auth.type is 'exchange', but the program finds the principals itself: there is no token to exchange"
    ],
    [
      !hasOwnAuthenticator && !asksServer && !signsIn && !hasDesk,
      "auth.type is 'exchange', which needs TRIVET_AUTH with jwt or introspection, or with sign-in: other " +
        'callers have no token to exchange'
    ],
    [
      asksServer && !signsIn && !hasDesk && client === undefined,
      `auth.type is 'exchange', which needs ${CLIENT}`
    ],
    [
      issuers.length > 1 && client === 'secret',
      "auth.type is 'exchange', which works with one of TRIVET_AUTH_ISSUERS only, because the others would " +
        'learn TRIVET_AUTH_CLIENT_SECRET. With TRIVET_AUTH_CLIENT_KEY it works with several'
    ],
    [
      !isDelegated && audience === undefined && resource === undefined && scopes.length === 0,
      "auth.type is 'exchange', which needs an audience, a resource or scopes: what the token is for"
    ],
    [
      isDelegated && audience === undefined && scopes.length === 0,
      "auth.type is 'exchange', which needs scopes such as api://crm/.default, or an audience: " +
        'TRIVET_AUTH_PRESET says so'
    ],
    [
      isDelegated && resource !== undefined,
      'auth.resource does not exist at the provider of TRIVET_AUTH_PRESET'
    ]
  ]
}

function findClaimsProblems ({ headers, jwt }: AuthOf<unknown, 'claims'>, facts: AccessFacts): Checks {
  const { modes, publicUrl, hasOwnAuthenticator = false, hasDesk = false } = facts
  const isOpen = modes.every((mode) => mode === 'none') && !hasOwnAuthenticator && !hasDesk
  return [
    [headers === undefined && jwt === undefined, "auth.type is 'claims', which needs headers or jwt"],
    [isOpen, "auth.type is 'claims', which needs TRIVET_AUTH: anonymous callers have no claims"],
    [
      jwt !== undefined && publicUrl === undefined && !hasDesk,
      'auth.jwt needs TRIVET_PUBLIC_URL, the issuer of the JWT'
    ]
  ]
}
