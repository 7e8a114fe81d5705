// The identity providers that are known by name: each preset against a server that behaves as its provider.

import t from 'tap'
import { findOpenDoor, recognizeProvider } from '../../../../src/features/sign-in/people/providers.ts'
import { TENANT } from '../../../servers/provider-behaviors.ts'
import { startProviderService } from './provider-service.ts'

const READ = 'scopes:\n  books:read: everyone\n'

/** The page for a person who may not come in. */
const REFUSED = { status: 403, text: /this account may not use/ }

t.test('any provider: a person is issuer and `sub`, and has the scopes asked for and mapped', async (t) => {
  const { enter, provider } = await startProviderService(t, `${READ}  books:admin: everyone\n`)
  t.strictSame(await enter('alice'), { subject: `${provider.issuer}|alice`, scopes: ['books:read'] })
  t.equal(provider.lastQuery('/auth').get('scope'), 'openid profile email offline_access')
  t.equal(provider.lastQuery('/auth').get('resource'), null)
})

t.test('any provider: claims that an ID token lacks come from userinfo', async (t) => {
  const groups = (user: string) => ({ groups: user === 'ada' ? ['librarians', 'staff'] : ['staff'] })
  const { enter, provider } = await startProviderService(
    t,
    'admit: [{ claim: groups, anyOf: [staff] }]\n' +
      `${READ}  books:write: { claim: groups, anyOf: [librarians] }\n`,
    { behavesAs: 'thin', claimsOf: groups }
  )
  t.strictSame((await enter('ada')).scopes, ['books:read', 'books:write'])
  t.strictSame((await enter('alice')).scopes, ['books:read'])
  t.equal(provider.requestsOf('/me'), 2)
})

t.test('any provider: what the access token is for can be named', async (t) => {
  const { enter, provider } = await startProviderService(
    t, `ask: { audience: 'https://books.example/mcp', scopes: [books:read] }\n${READ}`
  )
  t.match(await enter('alice'), { subject: /alice/ })
  t.equal(provider.lastQuery('/auth').get('resource'), 'https://books.example/mcp')
  t.equal(provider.lastQuery('/auth').get('scope'), 'openid profile email offline_access books:read')
})

t.test('entra: a person is the tenant and `oid`, and the access token is for the service', async (t) => {
  const { enter, provider } = await startProviderService(
    t, `preset: entra\nadmit: [{ claim: groups, anyOf: [staff] }]\n${READ}`,
    { behavesAs: 'entra', scopes: ['trivet/.default'], claimsOf: () => ({ groups: ['staff'] }) }
  )
  t.strictSame(await enter('alice'), {
    subject: `${provider.issuer}|${TENANT}|oid-alice`, scopes: ['books:read']
  })
  t.equal(provider.lastQuery('/auth').get('scope'), 'openid profile email offline_access trivet/.default')
  t.equal(provider.requestsOf('/me'), 0, 'its userinfo endpoint belongs to another service')
})

t.test('entra: a person with too many groups stays out, and the log says why', async (t) => {
  const overage = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph' } } }
  const { enter, warnings } = await startProviderService(
    t, `preset: entra\nadmit: [{ claim: groups, anyOf: [staff] }]\n${READ}`,
    { behavesAs: 'entra', claimsOf: () => overage }
  )
  t.match(await enter('alice'), REFUSED)
  const reasons = warnings.map(({ reason }) => String(reason))
  t.match(reasons.join('\n'), /left out the claim groups, because it has too many values/)
  t.match(reasons.join('\n'), /the rule of admit on the claim groups does not hold/)
})

t.test('google: people of the domain come in, with opaque tokens and a refresh token', async (t) => {
  const { enter, provider } = await startProviderService(
    t, `preset: google\nadmit: [{ claim: hd, anyOf: [books.example] }]\n${READ}`, { behavesAs: 'google' }
  )
  t.match(await enter('ada@books.example'), { subject: `${provider.issuer}|ada@books.example` })
  t.match(await enter('eve'), REFUSED)
  t.match(await enter('eve@other.example'), REFUSED)
  const query = provider.lastQuery('/auth')
  t.equal(query.get('scope'), 'openid profile email')
  t.match(Object.fromEntries(query), { access_type: 'offline', prompt: 'consent' })
})

t.test('auth0: the audience is named as Auth0 does, and the issuer ends with a slash', async (t) => {
  const { enter, provider } = await startProviderService(
    t, `preset: auth0\nask: { audience: 'https://books.example/api' }\n${READ}`, { behavesAs: 'auth0' }
  )
  t.match(await enter('alice'), { subject: `${provider.issuer}|alice` })
  t.equal(provider.lastQuery('/auth').get('audience'), 'https://books.example/api')
  t.equal(provider.lastQuery('/auth').get('resource'), null)
})

t.test('okta: groups are asked for', async (t) => {
  const { enter, provider } = await startProviderService(
    t, `preset: okta\nask: { scopes: [groups] }\nadmit: [{ claim: groups, anyOf: [Everyone] }]\n${READ}`,
    { behavesAs: 'okta', scopes: ['groups'], claimsOf: () => ({ groups: ['Everyone', 'Staff'] }) }
  )
  t.match(await enter('alice'), { subject: `${provider.issuer}|alice` })
})

t.test('keycloak: roles of the realm are a path', async (t) => {
  const { enter } = await startProviderService(
    t, `preset: keycloak\n${READ}  books:write: { claim: realm_access.roles, anyOf: [librarian] }\n`,
    { behavesAs: 'keycloak', claimsOf: () => ({ realm_access: { roles: ['librarian'] } }) }
  )
  t.strictSame((await enter('alice')).scopes, ['books:read', 'books:write'])
})

t.test('a provider is recognized by its issuer where that is sure', async (t) => {
  for (const [issuer, name] of [
    ['https://accounts.google.com', 'google'],
    [`https://login.microsoftonline.com/${TENANT}/v2.0`, 'entra'],
    [`https://sts.windows.net/${TENANT}/`, 'entra'],
    ['https://books.okta.com', 'okta'],
    ['https://books.okta.com/oauth2/default', 'okta'],
    ['https://books.eu.auth0.com/', 'auth0'],
    ['https://github.com', 'github'],
    ['https://login.books.example/realms/books', undefined],
    ['https://github.com.evil.example', undefined],
    ['https://evil-okta.com', undefined]
  ] as const) t.equal(recognizeProvider(issuer), name, issuer)
})

t.test('a door that is open to everybody is found', async (t) => {
  const entra = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`
  const open = [
    ['https://accounts.google.com', 'google', []],
    ['https://accounts.google.com', 'google', ['groups', 'email']],
    ['https://github.com', 'github', ['login']],
    [entra('common'), 'entra', []],
    [entra('COMMON'), 'entra', []],
    [entra('organizations'), 'entra', ['groups', 'roles']],
    [entra('consumers'), 'entra', []],
    [entra('9188040D-6C67-4C5B-B112-36A304B66DAD'), 'entra', []],
    [`https://login.microsoftonline.com/${TENANT}/../common/v2.0`, 'entra', []],
    [`https://login.microsoftonline.com/${TENANT}%2f..%2fcommon/v2.0`, 'entra', []],
    ['https://login.microsoftonline.com/', 'entra', []],
    ...[
      'gitlab.com', 'login.yahoo.com', 'api.login.yahoo.com', 'login.salesforce.com', 'appleid.apple.com',
      'id.twitch.tv/oauth2', 'www.facebook.com', 'facebook.com', 'www.linkedin.com', 'slack.com'
    ].map((host) => [`https://${host}`, 'oidc', []] as const)
  ] as const
  const closed = [
    ['https://accounts.google.com', 'google', ['hd']],
    ['https://accounts.google.com', 'google', ['sub']],
    ['https://github.com', 'github', ['teams']],
    [entra('common'), 'entra', ['tid']],
    [entra(TENANT), 'entra', []],
    [`https://sts.windows.net/${TENANT}/`, 'entra', []],
    ['https://gitlab.com', 'oidc', ['groups_direct']],
    ['https://login.books.example', 'oidc', []],
    ['https://gitlab-com.example', 'oidc', []],
    ['https://books.my.salesforce.com', 'oidc', []],
    ['https://books.okta.com', 'okta', []]
  ] as const
  const find = ([issuer, name, claims]: typeof open[number] | typeof closed[number]) => {
    return findOpenDoor(issuer, name, claims.map((claim) => ({ claim, anyOf: ['a'] })))
  }
  for (const row of open) t.match(find(row), /everybody who has an account at/, String(row))
  for (const row of closed) t.equal(find(row), undefined, String(row))
})
