// Joins the settings about access: which are needed together, and what the parts of access get.

import type { AcceptedAudience } from '../../access/accepted-audience.ts'
import { PRESETS } from '../../access/presets.ts'
import type { TokenRules } from '../../access/token-rules.ts'
import type { Config } from './settings.ts'

/** The settings whose names begin with `auth`, and the public URL. */
export type AccessConfig = Pick<Config, 'publicUrl' | Extract<keyof Config, `auth${string}`>>

/** The problems of settings that are valid alone, but not together. */
export function findAccessConflicts (config: AccessConfig): string[] {
  const { auth, publicUrl, authIssuers, authAudiences, authTokens, authClientId } = config
  const [hasJwt, hasIntrospection] = [auth.includes('jwt'), auth.includes('introspection')]
  const asksServer = hasJwt || hasIntrospection
  const mode = hasJwt ? 'jwt' : 'introspection'
  const strangers = readAudiences(authAudiences).flatMap(
    ({ issuer }) => issuer === undefined || authIssuers.includes(issuer) ? [] : [issuer]
  )
  const problems: ReadonlyArray<readonly [isFound: boolean, problem: string]> = [
    [asksServer && publicUrl === undefined, `TRIVET_AUTH has ${mode}, which needs TRIVET_PUBLIC_URL`],
    [asksServer && authIssuers.length === 0, `TRIVET_AUTH has ${mode}, which needs TRIVET_AUTH_ISSUERS`],
    [
      !asksServer && authIssuers.length > 0,
      'TRIVET_AUTH_ISSUERS is set, but TRIVET_AUTH has neither jwt nor introspection'
    ],
    [
      hasIntrospection && authIssuers.length > 1,
      'TRIVET_AUTH has introspection, which works with one of TRIVET_AUTH_ISSUERS only'
    ],
    [
      hasIntrospection && authClientId === undefined,
      'TRIVET_AUTH has introspection, which needs TRIVET_AUTH_CLIENT_ID'
    ],
    [
      hasIntrospection && (config.authClientSecret === undefined) === (config.authClientKey === undefined),
      'TRIVET_AUTH has introspection, which needs one of TRIVET_AUTH_CLIENT_SECRET and TRIVET_AUTH_CLIENT_KEY'
    ],
    [
      auth.includes('tokens') && authTokens === undefined,
      'TRIVET_AUTH has tokens, which needs TRIVET_AUTH_TOKENS, a file of lines that `trivet token` prints'
    ],
    [
      !auth.includes('tokens') && authTokens !== undefined,
      'TRIVET_AUTH_TOKENS is set, but TRIVET_AUTH does not have tokens'
    ],
    ...strangers.map((issuer) => [
      true, `TRIVET_AUTH_AUDIENCES has an audience of ${issuer}, which is not in TRIVET_AUTH_ISSUERS`
    ] as const)
  ]
  return problems.flatMap(([isFound, problem]) => isFound ? [problem] : [])
}

/** Without a setting, tokens must be for the public URL. */
export function audiencesIn ({ authAudiences, publicUrl }: AccessConfig): AcceptedAudience[] {
  if (authAudiences.length > 0) return readAudiences(authAudiences)
  return publicUrl === undefined ? [] : [{ audience: publicUrl }]
}

/** Each is an audience, or an issuer, a space and an audience. */
function readAudiences (texts: readonly string[]): AcceptedAudience[] {
  return texts.map((text) => {
    const [first = '', second] = text.split(' ')
    return second === undefined ? { audience: first } : { issuer: first, audience: second }
  })
}

/** A preset says all; each setting replaces one part of it. */
export function rulesIn ({ authPreset, authScopeClaims, authSubjectClaims }: AccessConfig): TokenRules {
  return {
    ...PRESETS[authPreset],
    ...(authScopeClaims.length > 0 && { scopeClaims: authScopeClaims }),
    ...(authSubjectClaims.length > 0 && { subjectClaims: authSubjectClaims })
  }
}
