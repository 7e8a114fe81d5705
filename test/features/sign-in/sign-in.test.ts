// The whole way: registration, consent, sign-in at the identity provider, token, call, refresh, revocation.

import t from 'tap'
import { createReadableLog } from '../../helpers/log.ts'
import {
  askForToken, callHello, HELLO, readMetadata, signIn, startSignInService
} from './sign-in-service.ts'

t.test('a client signs a person in', async (t) => {
  const { origin, endpoint, provider } = await startSignInService(t)
  const metadata = await readMetadata(origin)
  t.match(metadata, {
    issuer: origin,
    client_id_metadata_document_supported: true,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    registration_endpoint: `${origin}/sign-in/register`
  })
  t.comment(JSON.stringify(metadata, null, 1))
  const { clientId, back, status, body } = await signIn(origin)
  t.equal(back.url.searchParams.get('iss'), origin)
  t.equal(status, 200, JSON.stringify(body))
  const called = await callHello(endpoint, body.access_token)
  t.equal(called.status, 200, called.body)
  t.match(called.body, `${provider.issuer}|alice`)

  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(body.refresh_token) }
  const first = await askForToken(metadata, form)
  t.equal(first.status, 200, JSON.stringify(first.body))
  const repeated = await askForToken(metadata, form)
  t.equal(repeated.status, 200, 'an answer that may have been lost is given again')
  t.equal(repeated.body.refresh_token, first.body.refresh_token)
  const second = await askForToken(metadata, { ...form, refresh_token: String(first.body.refresh_token) })
  t.equal(second.status, 200)
  const stolen = await askForToken(metadata, form)
  t.match(stolen, { status: 400, body: { error: 'invalid_grant' } })
  const family = await askForToken(metadata, { ...form, refresh_token: String(second.body.refresh_token) })
  t.match(family, { status: 400, body: { error: 'invalid_grant' } }, 'a reuse ends the family')
  await new Promise((resolve) => setTimeout(resolve, 2100))
  t.equal((await callHello(endpoint, second.body.access_token)).status, 401, 'and its access tokens')
})

t.test('no code, token or proof of a client is in the log, whatever it is used for (273)', async (t) => {
  const log = createReadableLog('trace')
  const { endpoint, origin } = await startSignInService(t, { logger: log.logger })
  const { metadata, clientId, form: codeForm, body } = await signIn(origin)
  const { access_token: accessToken, refresh_token: refreshToken } = body
  const { code, code_verifier: verifier } = codeForm
  t.equal((await callHello(endpoint, accessToken)).status, 200)
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(refreshToken) }
  const { body: refreshed } = await askForToken(metadata, form)
  // What is refused is in the log, and so is its reason.
  t.equal((await askForToken(metadata, codeForm)).status, 400)
  t.equal((await askForToken(metadata, { ...form, client_id: 'other' })).status, 401)
  for (const token of [accessToken, refreshToken, refreshed.access_token, refreshed.refresh_token]) {
    await fetch(`${origin}/sign-in/authorize?client_id=x&token=${String(token)}`)
    await fetch(`${origin}/sign-in/callback?state=${String(token)}&code=${code}`)
    await callHello(endpoint, `${String(token)}x`)
  }
  const text = log.text()
  t.match(text, /a request of the sign-in was refused/)
  const secrets = { code, verifier, accessToken, refreshToken, ...refreshed }
  for (const [name, secret] of Object.entries(secrets)) {
    if (String(secret).length > 20) t.notOk(text.includes(String(secret)), name)
  }
})

t.test('a client repeats all scopes that it has asked for at a refresh, and gets those it had', async (t) => {
  const files = { ...HELLO, 'sign-in.yaml': 'scopes: { books:read: everyone, books:write: everyone }' }
  const { origin } = await startSignInService(t, {}, files)
  const scope = 'books:read offline_access openid books:none'
  const { metadata, clientId, body } = await signIn(origin, { scope })
  t.equal(body.scope, 'books:read')
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(body.refresh_token) }
  for (const more of ['books:write', 'offline_access books:none']) {
    const { status, body: { error } } = await askForToken(metadata, { ...form, scope: more })
    t.strictSame([status, error], [400, 'invalid_scope'])
  }
  const refreshed = await askForToken(metadata, { ...form, scope })
  t.match(refreshed, { status: 200, body: { scope: 'books:read' } })
})
