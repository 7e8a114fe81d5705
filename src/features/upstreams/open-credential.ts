// Opens the credential of an upstream: one row for each type of `auth`.

import type { SignedInCallers } from '../../platform/access/signed-in-callers.ts'
import type { CallerExchange } from './tokens/vouched-exchange.ts'
import type { CompiledAuth } from './definition/compile-upstream.ts'
import type { CredentialLog } from './credentials/bearer-token.ts'
import { createClaimsCredential, type ServiceSigner } from './credentials/claims.ts'
import type { Credential } from './credentials/credential.ts'
import { createExchangeCredential } from './credentials/exchange.ts'
import type { KeptTokens } from './credentials/kept-tokens.ts'
import type { Principal } from '../../platform/access/principal.ts'
import { problemsOf, type AccessFacts } from './credentials/problems.ts'
import { openBasic, openNoCredential, openSecret } from './credentials/secret.ts'
import { createServiceCredential, type OwnClient } from './credentials/service.ts'

export interface CredentialDependencies {
  readonly log: CredentialLog
  /** What the settings of the operator say. */
  readonly facts: AccessFacts
  readonly own: OwnClient
  /** Absent if this service exchanges no tokens. */
  readonly exchange: CallerExchange | undefined
  readonly kept: KeptTokens
  readonly readClaims: SignedInCallers['readClaims']
  /** Throws if this service cannot sign. */
  openSigner (principal: Principal): ServiceSigner
}

interface OpeningUpstream extends CredentialDependencies {
  /** The name of the upstream. */
  readonly upstream: string
}

type Opener<T extends CompiledAuth['type']> = (
  auth: Extract<CompiledAuth, { readonly type: T }>, upstream: OpeningUpstream
) => Credential

const OPENERS: { readonly [T in CompiledAuth['type']]: Opener<T> } = {
  none: openNoCredential,
  secret: openSecret,
  basic: openBasic,
  service: createServiceCredential,
  exchange: createExchangeCredential,
  claims: createClaimsCredential
}

/** Throws an Error, without secrets, for an `auth` that this service cannot have. */
export function openCredential (
  auth: CompiledAuth, upstream: string, dependencies: CredentialDependencies
): Credential {
  const problems = problemsOf(auth, dependencies.facts)
  if (problems.length > 0) throw new Error(problems.join('; '))
  // Each row takes the `auth` of its own type.
  const open = OPENERS[auth.type] as Opener<CompiledAuth['type']>
  return open(auth, { ...dependencies, upstream })
}
