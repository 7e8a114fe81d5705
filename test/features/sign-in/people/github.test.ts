// People of GitHub, which has OAuth and an API instead of OpenID Connect.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createGithub } from '../../../../src/features/sign-in/people/github.ts'
import { startGithub } from '../../../servers/github-server.ts'
import { startProviderService } from './provider-service.ts'

const BOOKS = { id: 7, login: 'Books' }
const STAFF = { slug: 'staff', organization: BOOKS }
const PASSAGE = { state: 'the state', nonce: 'any', codeVerifier: 'the verifier' }

const optionsFor = (issuer: string, claimNames: readonly string[]) => ({
  issuer,
  client: { clientId: 'trivet', secret: 'trivet-secret' },
  redirectUri: 'http://127.0.0.1/back',
  scopes: [],
  params: {},
  claimNames,
  hasUserInfo: true
})

async function visit (url: string): Promise<string> {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return new URL(headers.get('location') ?? '').search
}

/** The page for a person who may not come in. */
const REFUSED = { status: 403, text: /this account may not use/ }

t.test('members come in, by a number that does not change, and the scopes of their teams', async (t) => {
  const ada = { id: 1, login: 'ada', orgs: [BOOKS], teams: [STAFF] }
  let person: Parameters<typeof startGithub>[1] = () => ada
  const github = await startGithub(t, () => person())
  const { enter, warnings } = await startProviderService(t, `preset: github
admit: [{ claim: organizations, anyOf: [books] }]
scopes:
  books:read: everyone
  books:write: { claim: teams, anyOf: [BOOKS/Staff] }
`, {}, {}, { signIn: github.issuer })
  t.strictSame(await enter('any'), { subject: `${github.issuer}|1`, scopes: ['books:read', 'books:write'] })
  person = () => ({ id: 2, login: 'bob', orgs: [BOOKS] })
  t.strictSame(await enter('any'), { subject: `${github.issuer}|2`, scopes: ['books:read'] })
  person = () => ({ id: 3, login: 'books', orgs: [{ id: 8, login: 'Books-fans' }] })
  t.match(await enter('any'), REFUSED)
  t.match(warnings.at(-1), { subject: '3', reason: /the claim organizations does not hold/ })
})

t.test('all organizations are read, in pages', async (t) => {
  const orgs = Array.from({ length: 250 }, (_, index) => ({ id: index, login: `org-${index}` }))
  const github = await startGithub(t, () => ({ id: 1, login: 'ada', orgs }))
  const provider = createGithub(optionsFor(github.issuer, ['organization_ids']))
  const { claims, tokens } = await provider.end(await visit(await provider.begin(PASSAGE)), PASSAGE)
  t.match(claims, { sub: '1', login: 'ada' })
  t.equal((claims['organization_ids'] as string[]).at(-1), '249')
  t.equal(github.asked.filter((path) => path === '/api/v3/user/orgs').length, 3)
  t.notOk(github.asked.includes('/api/v3/user/teams'), 'teams that no rule names are not asked for')
  t.match(tokens, { accessToken: /^gho_/ })
})

t.test('an error of any length is cut, and no terminal obeys it', async (t) => {
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ error: `\u001b[31m${'x'.repeat(100_000)}` }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const provider = createGithub(optionsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, []))
  const failures = [
    provider.end(`?code=any&state=${encodeURIComponent(PASSAGE.state)}`, PASSAGE),
    provider.renew('any', { claims: { sub: '1' } })
  ]
  for (const failure of failures) {
    const { message } = await failure.then(() => new Error('is taken'), (error: Error) => error)
    t.match(message, 'no access token')
    t.ok(message.length < 250, `${message.length} characters`)
    t.notMatch(message, '\u001b')
  }
})

t.test('without rules on groups no scope is asked for', async (t) => {
  const github = await startGithub(t, () => ({ id: 1, login: 'ada' }))
  const provider = createGithub(optionsFor(github.issuer, ['sub']))
  const url = new URL(await provider.begin(PASSAGE))
  t.strictSame([url.searchParams.get('scope'), url.searchParams.get('code_challenge_method')], ['', 'S256'])
  await provider.end(await visit(url.href), PASSAGE)
  t.notOk(github.asked.includes('/api/v3/user/orgs'))
})

async function open (t: Test) {
  const github = await startGithub(t, () => ({ id: 1, login: 'ada' }))
  const provider = createGithub(optionsFor(github.issuer, ['organizations']))
  return { github, provider, query: await visit(await provider.begin(PASSAGE)) }
}

t.test('an answer for another way, or used twice, is no identity', async (t) => {
  const { provider, query } = await open(t)
  const none = { name: 'AuthenticationUnavailable', message: /gives no identity/ }
  await t.rejects(provider.end(query, { ...PASSAGE, state: 'another' }), none)
  await t.rejects(provider.end(`${query}&code=another`, PASSAGE), none)
  await t.rejects(provider.end('?state=the state', PASSAGE), none)
  await provider.end(query, PASSAGE)
  await t.rejects(provider.end(query, PASSAGE), { ...none, message: /bad_verification_code/ })
})

t.test('an answer with another verifier is no identity', async (t) => {
  const { provider, query } = await open(t)
  const passage = { ...PASSAGE, codeVerifier: 'another' }
  await t.rejects(provider.end(query, passage), { message: /bad_verification_code/ })
})

t.test('an API that fails is no identity, and no person without groups', async (t) => {
  const { github, provider, query } = await open(t)
  github.answerWith(500)
  await t.rejects(provider.end(query, PASSAGE), { message: /gives no identity: .* answers with 500/ })
})

t.test('a person who refuses is told from a failure', async (t) => {
  const github = await startGithub(t, () => 'access_denied')
  const provider = createGithub(optionsFor(github.issuer, []))
  const query = await visit(await provider.begin(PASSAGE))
  await t.rejects(provider.end(query, PASSAGE), { name: 'Error', message: 'access_denied' })
})

t.test('github.com has its API at another host', async (t) => {
  const { fetch } = globalThis
  const asked: string[] = []
  t.teardown(() => { globalThis.fetch = fetch })
  globalThis.fetch = async (url) => {
    asked.push(String(url))
    const isToken = String(url).includes('access_token')
    return Response.json(isToken ? { access_token: 'a' } : { id: 1, login: 'ada' })
  }
  const provider = createGithub(optionsFor('https://github.com', ['sub']))
  t.match(await provider.begin(PASSAGE), /^https:\/\/github\.com\/login\/oauth\/authorize\?/)
  await provider.end('?code=a&state=the state', PASSAGE)
  t.strictSame(asked, ['https://github.com/login/oauth/access_token', 'https://api.github.com/user'])
})
