// The WWW-Authenticate header: what a client needs for a request that it may not make yet (RFC 6750).
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/index

import type { AuthenticationErrorCode } from '../../platform/access/authentication.ts'
import { askableScopes, isAnonymous, type Principal } from '../../platform/access/principal.ts'

declare module 'fastify' {
  interface FastifyInstance { challenges: Challenges }
}

export interface Challenges {
  /** For a request without a valid token. */
  unauthorized (code: AuthenticationErrorCode): string
  /**
   * For a caller that lacks scopes. Without a token the caller is asked for one, if there is a server that
   * issues them.
   * The challenge also names the scopes that the token has: a client asks for exactly those of a challenge,
   * and its new token must not lose the others.
   * @param required all scopes that the operation needs.
   */
  insufficientScope (required: readonly string[], caller: Principal): {
    readonly status: 401 | 403
    readonly header: string
  }
}

interface ChallengesOptions {
  /** Where the metadata of the resource is. Absent without an authorization server. */
  readonly metadataUrl: string | undefined
  /** The scopes that a client without a token should ask for. */
  readonly scopes: readonly string[]
}

const DESCRIPTIONS = {
  invalid_request: 'The Authorization header must be "Bearer", a space and one token',
  invalid_token: 'The access token is expired, revoked, or not valid for this service'
}

const LACKING = 'The access token lacks a scope that this needs'

export function createChallenges ({ metadataUrl, scopes }: ChallengesOptions): Challenges {
  function write (
    error: string | undefined, description: string | undefined, scopeNames: readonly string[]
  ): string {
    // A client decides by itself whether it wants refresh tokens.
    const scope = scopeNames.filter((name) => name !== 'offline_access').join(' ')
    const members = { resource_metadata: metadataUrl, error, error_description: description, scope }
    const parameters = Object.entries(members).flatMap(
      ([name, value]) => value === undefined || value === '' ? [] : [`${name}=${toQuotedString(value)}`]
    )
    return `Bearer ${parameters.join(', ')}`.trimEnd()
  }

  return {
    unauthorized: (code) => write(code, code && DESCRIPTIONS[code], scopes),
    insufficientScope (required, caller) {
      return metadataUrl !== undefined && isAnonymous(caller)
        ? { status: 401, header: write(undefined, undefined, required) }
        : { status: 403, header: write('insufficient_scope', LACKING, join(required, askableScopes(caller))) }
    }
  }
}

/** Some clients and proxies refuse headers of 8 KiB. */
const MAX_SCOPE_CHARS = 4000

/** Leaves the scopes of the token out where the header would be too long. */
function join (required: readonly string[], granted: readonly string[]): readonly string[] {
  const all = [...new Set([...required, ...granted])]
  return all.join(' ').length > MAX_SCOPE_CHARS ? required : all
}

function toQuotedString (text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
