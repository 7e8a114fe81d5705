// Who the person is after a renewal: the identity provider may send no ID token, and its user info may fail,
// refuse or have changed.

import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { createIdentityProvider } from '../../../src/features/sign-in/people/identity-provider.ts'
import type { AuthorizationServer } from '../../servers/authorization-server.ts'
import { createAhead, refresh, signInAs, startGrantService } from './grants-setup.ts'
import { HELLO, startProvider } from './sign-in-service.ts'

const ADMIT_ADMINS = { ...HELLO, 'sign-in.yaml': 'admit: [{claim: groups, anyOf: [admins]}]\n' }
/** The provider is not asked twice within this time. */
const RECENT_MS = 10_500
const HOUR_MS = 3_600_000

function answerWith (status: number, body: object): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

const adminOf = (groups: readonly string[]) => answerWith(200, { sub: 'alice', groups })

function openProvider (provider: AuthorizationServer) {
  return createIdentityProvider({
    issuer: provider.issuer,
    client: { clientId: 'trivet', secret: 'trivet-secret' },
    redirectUri: 'http://127.0.0.1/sign-in/callback',
    scopes: [],
    params: {},
    claimNames: ['groups'],
    hasUserInfo: true
  })
}

t.test('a renewal outlives user info that fails: a refresh token that counts once is kept', async (t) => {
  const goAhead = createAhead(t)
  const { origin, provider, log } = await startGrantService(
    t, { provider: { exchange: { rotates: true } }, files: ADMIT_ADMINS }
  )
  provider.replaceAnswer('/me', adminOf(['admins']))
  const { clientId, refreshToken } = await signInAs(origin)
  let token: unknown = refreshToken
  async function refreshNext (): Promise<number> {
    const { status, body } = await refresh(origin, clientId, token)
    if (status === 200) token = body.refresh_token
    return status
  }
  goAhead(RECENT_MS)
  provider.replaceAnswer('/me', answerWith(500, {}))
  t.equal(await refreshNext(), 200, 'the claims from before count')
  t.match(log.text(), /renews tokens and gives no claims/)
  goAhead(RECENT_MS)
  t.equal(await refreshNext(), 200, 'again')
  goAhead(4 * HOUR_MS)
  t.equal(await refreshNext(), 503, 'for some hours')
  goAhead(RECENT_MS)
  provider.replaceAnswer('/me', adminOf(['admins']))
  await new Promise((resolve) => setTimeout(resolve, 5500))
  t.equal(await refreshNext(), 200, 'nothing is lost')
  goAhead(RECENT_MS)
  provider.replaceAnswer('/me', adminOf([]))
  t.equal(await refreshNext(), 400, 'a group that is lost is lost')
})

async function renewWithoutIdToken (t: Test, userInfo: (response: ServerResponse) => void) {
  const provider = await startProvider(t, 'http://127.0.0.1')
  provider.replaceAnswer('/token', answerWith(200, { access_token: 'x', token_type: 'Bearer' }))
  provider.replaceAnswer('/me', userInfo)
  return openProvider(provider)
}

t.test('without an ID token the claims of user info are asked for anew, and win', async (t) => {
  const identityProvider = await renewWithoutIdToken(t, adminOf([]))
  const before = { claims: { sub: 'alice', tid: 'tenant', groups: ['admins'] } }
  for (const askedNames of [[], ['groups']]) {
    const { identify } = await identityProvider.renew('refresh', { ...before, askedNames })
    t.match((await identify()).claims, { sub: 'alice', tid: 'tenant', groups: [] })
  }
})

t.test('a claim that user info leaves out is lost, where it came from there', async (t) => {
  const identityProvider = await renewWithoutIdToken(t, answerWith(200, { sub: 'alice' }))
  const { identify } = await identityProvider.renew('refresh', {
    claims: { sub: 'alice', tid: 'tenant', groups: ['admins'] }, askedNames: ['groups']
  })
  t.strictSame((await identify()).claims, { sub: 'alice', tid: 'tenant' })
})

t.test('user info that refuses has no more claims, and one that fails may have', async (t) => {
  for (const status of [400, 401, 403, 404]) {
    const identityProvider = await renewWithoutIdToken(t, answerWith(status, {}))
    const { identify } = await identityProvider.renew('refresh', { claims: { sub: 'alice', tid: 'tenant' } })
    t.strictSame((await identify()).claims, { sub: 'alice', tid: 'tenant' }, String(status))
  }
  for (const status of [408, 429, 500, 503]) {
    const identityProvider = await renewWithoutIdToken(t, answerWith(status, {}))
    const { identify } = await identityProvider.renew('refresh', { claims: { sub: 'alice' } })
    await t.rejects(identify(), { name: 'AuthenticationUnavailable' }, String(status))
  }
})

t.test('people come in where user info refuses', async (t) => {
  const { origin, provider } = await startGrantService(t, {
    files: { ...HELLO, 'sign-in.yaml': 'scopes:\n  admin: {claim: groups, anyOf: [admins]}\n' }
  })
  provider.replaceAnswer('/me', (response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end()
  })
  t.ok((await signInAs(origin)).accessToken)
})
