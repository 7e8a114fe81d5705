// The parameters of requests for tokens, by the form that an issuer takes.

import type { TokenRequest } from './token-endpoint.ts'
import type { ExchangeForm } from '../../../platform/access/token-rules.ts'

/** What a token is for. */
export interface TokenTarget {
  readonly audience?: string | undefined
  /** RFC 8707. */
  readonly resource?: string | undefined
  readonly scopes?: readonly string[] | undefined
}

export interface ExchangeTarget extends TokenTarget {
  /** Called with the scopes that an issuer did not grant. */
  readonly onMissingScopes?: ((missing: readonly string[]) => void) | undefined
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
/** The scope that stands for all permissions that an administrator has granted. */
const DEFAULT_SCOPE = '.default'

/** @param target with `isKept`, a refresh token is asked for too, where a scope asks for it. */
export function toExchangeRequest (
  form: ExchangeForm, token: string,
  { audience, resource, scopes = [], isKept = false }: TokenTarget & { readonly isKept?: boolean }
): TokenRequest {
  if (form === 'on-behalf-of') {
    const scopesOfTarget = toDelegatedScopes({ audience, scopes })
    return {
      grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      scopes: isKept ? [...scopesOfTarget, 'offline_access'] : scopesOfTarget,
      parameters: { assertion: token, requested_token_use: 'on_behalf_of' }
    }
  }
  return {
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    scopes,
    parameters: {
      subject_token: token,
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      audience,
      resource
    }
  }
}

/** Without scopes the new token has those that were granted before: RFC 6749, section 6. */
export function toRefreshRequest (refreshToken: string, { resource }: TokenTarget): TokenRequest {
  return { grantType: 'refresh_token', parameters: { refresh_token: refreshToken, resource } }
}

export function toClientCredentialsRequest ({ audience, resource, scopes = [] }: TokenTarget): TokenRequest {
  return { grantType: 'client_credentials', scopes, parameters: { audience, resource } }
}

/** A provider with this form knows no audience. The scopes say what the token is for. */
function toDelegatedScopes ({ audience, scopes = [] }: TokenTarget): readonly string[] {
  if (audience === undefined || scopes.length > 0) return scopes
  return [`${audience.replace(/\/$/, '')}/${DEFAULT_SCOPE}`]
}
