// The rows of the settings about access, the problems of these settings together, and what the room of access
// gets.

import type { ClientCredentials } from '../../platform/access/client-authentication.ts'
import { isPublicUrl, isServerUrl } from '../../platform/access/server-url.ts'
import { PRESETS, type AcceptedAudience, type TokenRules } from '../../platform/access/token-rules.ts'
import {
  file, keyOf, list, manyOf, secret, setting, text, type SettingsTable, type ValuesOf
} from './setting-kinds.ts'

export const ACCESS_SETTINGS = {
  auth: setting('TRIVET_AUTH', manyOf(['none', 'jwt', 'introspection', 'tokens', 'sign-in']), [],
    'Who may use the service. See [Access](access.md#modes).'),
  publicUrl: setting('TRIVET_PUBLIC_URL',
    text(
      'the URL of the endpoint for clients, such as https://mcp.example.com/mcp, without a query, a fragment ' +
        'or a slash at its end (http:// only for this machine)', { test: isPublicUrl }
    ), undefined,
    'The URL of the endpoint for clients: tokens are for this resource, and links to files begin with ' +
      'it. Required for `jwt` and `introspection`.'),
  authIssuers: setting('TRIVET_AUTH_ISSUERS',
    list('https:// URLs of authorization servers (http:// only for this machine)', { test: isServerUrl }), [],
    'The authorization servers, as their `iss` writes them.'),
  authAudiences: setting('TRIVET_AUTH_AUDIENCES',
    list('audiences, each alone or after its issuer and a space', /^\S+(?: \S+)?$/), [],
    'The audiences that tokens may have. `ISSUER AUDIENCE` counts for that issuer only. By default the ' +
      'public URL.'),
  // A server must not advertise offline_access.
  authScopes: setting('TRIVET_AUTH_SCOPES',
    list('scopes, without offline_access', /^(?!offline_access$)[\x21\x23-\x5b\x5d-\x7e]+$/), [],
    'The scopes that a client should ask for first.'),
  authPreset: setting('TRIVET_AUTH_PRESET', keyOf(PRESETS), 'standard',
    'The identity provider: it decides which claims of a token are read. `standard` is RFC 9068.'),
  authScopeClaims: setting('TRIVET_AUTH_SCOPE_CLAIMS', list('claims', /\S/), [],
    'The claims with scopes, instead of those of the preset: names, or paths such as ' +
      '`realm_access.roles`.'),
  authClientId: setting('TRIVET_AUTH_CLIENT_ID', text('a client id', /\S/), undefined,
    'The id of the service at its authorization server, for `introspection` and for ' +
      '[upstreams](upstreams.md#who-calls).'),
  authClientSecret: secret(setting('TRIVET_AUTH_CLIENT_SECRET', text('a secret', /\S/), undefined,
    'The secret of the service at its authorization server.')),
  authClientKey: secret(setting('TRIVET_AUTH_CLIENT_KEY',
    text('a private key in PEM or as a JWK', /^\s*(?:-----BEGIN|\{)/), undefined,
    'The private key of the service, instead of a secret.')),
  authIntrospectionUrl: setting('TRIVET_AUTH_INTROSPECTION_URL',
    text('an https:// URL (http:// only for this machine)', { test: isServerUrl }), undefined,
    "For `introspection`: the URL to ask about tokens. By default it is in the issuer's metadata."),
  authTokens: setting('TRIVET_AUTH_TOKENS', file, undefined,
    'For `tokens`: the file of [static tokens](access.md#static-tokens).'),
  signIn: setting('TRIVET_SIGN_IN',
    text('the https:// URL of an identity provider (http:// only for this machine)', { test: isServerUrl }),
    undefined, 'For `sign-in`: the identity provider, as its `iss` writes it. See [Sign-in](sign-in.md).'),
  signInClientId: setting('TRIVET_SIGN_IN_CLIENT_ID', text('a client id', /\S/), undefined,
    'For `sign-in`: the id of the service at the identity provider.'),
  signInClientSecret: secret(setting('TRIVET_SIGN_IN_CLIENT_SECRET', text('a secret', /\S/), undefined,
    'For `sign-in`: the secret of the service at the identity provider.')),
  signInClientKey: secret(setting('TRIVET_SIGN_IN_CLIENT_KEY',
    text('a private key in PEM or as a JWK', /^\s*(?:-----BEGIN|\{)/), undefined,
    'For `sign-in`: the private key of the service, instead of a secret.'))
} satisfies SettingsTable

export type AccessConfig = ValuesOf<typeof ACCESS_SETTINGS>

type ClientConfig = Pick<AccessConfig, 'authClientId' | 'authClientSecret' | 'authClientKey'>

/** Finds the problems of settings that are valid alone, but not together. */
export function findAccessConflicts (config: AccessConfig): string[] {
  const { auth, publicUrl, authIssuers, authAudiences, authTokens, authClientId } = config
  const [hasJwt, hasIntrospection] = [auth.includes('jwt'), auth.includes('introspection')]
  const asksServer = hasJwt || hasIntrospection
  const mode = hasJwt ? 'jwt' : 'introspection'
  const hasOneProof = (config.authClientSecret === undefined) !== (config.authClientKey === undefined)
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
      hasIntrospection && !hasOneProof,
      'TRIVET_AUTH has introspection, which needs one of TRIVET_AUTH_CLIENT_SECRET and TRIVET_AUTH_CLIENT_KEY'
    ],
    [
      !hasIntrospection && authClientId !== undefined && !hasOneProof,
      'TRIVET_AUTH_CLIENT_ID is set, which needs one of TRIVET_AUTH_CLIENT_SECRET and TRIVET_AUTH_CLIENT_KEY'
    ],
    [
      auth.includes('tokens') && authTokens === undefined,
      'TRIVET_AUTH has tokens, which needs TRIVET_AUTH_TOKENS, a file of lines that `npx trivet token` prints'
    ],
    [
      !auth.includes('tokens') && authTokens !== undefined,
      'TRIVET_AUTH_TOKENS is set, but TRIVET_AUTH does not have tokens'
    ],
    ...findSignInConflicts(config),
    ...strangers.map((issuer) => [
      true, `TRIVET_AUTH_AUDIENCES has an audience of ${issuer}, which is not in TRIVET_AUTH_ISSUERS`
    ] as const)
  ]
  return problems.flatMap(([isFound, problem]) => isFound ? [problem] : [])
}

function findSignInConflicts (
  { auth, publicUrl, signIn, signInClientId, signInClientSecret: secret, signInClientKey: key }: AccessConfig
): ReadonlyArray<readonly [isFound: boolean, problem: string]> {
  const isOn = auth.includes('sign-in')
  const values = { '': signIn, _CLIENT_ID: signInClientId, _CLIENT_SECRET: secret, _CLIENT_KEY: key }
  const needs = (name: string) => `TRIVET_AUTH has sign-in, which needs ${name}`
  return [
    [isOn && publicUrl === undefined, needs('TRIVET_PUBLIC_URL')],
    [isOn && signIn === undefined, needs('TRIVET_SIGN_IN')],
    [isOn && signInClientId === undefined, needs('TRIVET_SIGN_IN_CLIENT_ID')],
    [
      isOn && (secret === undefined) === (key === undefined),
      needs('one of TRIVET_SIGN_IN_CLIENT_SECRET and TRIVET_SIGN_IN_CLIENT_KEY')
    ],
    ...Object.entries(values).map(([name, value]) => [
      !isOn && value !== undefined, `TRIVET_SIGN_IN${name} is set, but TRIVET_AUTH does not have sign-in`
    ] as const)
  ]
}

/** Returns the audiences that tokens may have: without a setting, the public URL. */
export function audiencesIn ({ authAudiences, publicUrl }: AccessConfig): AcceptedAudience[] {
  if (authAudiences.length > 0) return readAudiences(authAudiences)
  return publicUrl === undefined ? [] : [{ audience: publicUrl }]
}

/** Reads texts that are an audience, or an issuer, a space and an audience. */
function readAudiences (texts: readonly string[]): AcceptedAudience[] {
  return texts.map((text) => {
    const [first = '', second] = text.split(' ')
    return second === undefined ? { audience: first } : { issuer: first, audience: second }
  })
}

/** Returns who this service is at its authorization server, or `undefined` if no setting says so. */
export function clientIn (
  { authClientId: clientId, authClientSecret: secret, authClientKey: privateKey }: ClientConfig
): ClientCredentials | undefined {
  if (clientId === undefined) return undefined
  const proof = privateKey === undefined ? {} : { privateKey }
  return { clientId, ...proof, ...(secret !== undefined && { secret }) }
}

/** Returns the rules of the preset, with the claims of scopes that a setting names instead. */
export function rulesIn ({ authPreset, authScopeClaims }: AccessConfig): TokenRules {
  return { ...PRESETS[authPreset], ...(authScopeClaims.length > 0 && { scopeClaims: authScopeClaims }) }
}
