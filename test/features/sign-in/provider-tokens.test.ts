// What the identity provider gave with a grant: it is asked again at each refresh, and nobody else sees its
// tokens.

import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { callHello } from './sign-in-service.ts'
import { createAhead, refresh, signInAs, startGrantService } from './grants-setup.ts'

const REFUSED = { status: 400, body: { error: 'invalid_grant' } }
const LATER = { status: 503, body: { error: 'temporarily_unavailable' } }
/** The provider is not asked twice within this time. */
const RECENT_MS = 10_500

function answerWith (status: number, error: string): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }
}

async function startSignedIn (t: Test, settings: Parameters<typeof startGrantService>[1] = {}) {
  const goAhead = createAhead(t)
  const service = await startGrantService(t, settings)
  const person = await signInAs(service.origin)
  goAhead(RECENT_MS)
  return { ...service, ...person, goAhead }
}

t.test('a person who is disabled at the provider is out at the next refresh', async (t) => {
  const { origin, provider, clientId, accessToken, refreshToken } = await startSignedIn(t)
  provider.replaceAnswer('/token', answerWith(400, 'invalid_grant'))
  t.match(await refresh(origin, clientId, refreshToken), REFUSED)
  provider.replaceAnswer('/token')
  t.match(await refresh(origin, clientId, refreshToken), REFUSED, 'the grant has ended')
  await new Promise((resolve) => setTimeout(resolve, 2000))
  t.equal((await callHello(`${origin}/mcp`, accessToken)).status, 401, 'on every token')
})

t.test('while the provider gives no answer, nothing is lost', async (t) => {
  const { origin, provider, clientId, refreshToken, goAhead } = await startSignedIn(t)
  const faults = [
    answerWith(500, 'server_error'),
    answerWith(401, 'invalid_client'),
    answerWith(400, 'unauthorized_client'),
    (response: ServerResponse) => response.destroy(),
    (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sorry')
  ]
  for (const fault of faults) {
    provider.replaceAnswer('/token', fault)
    t.match(await refresh(origin, clientId, refreshToken), LATER)
  }
  provider.replaceAnswer('/token')
  await provider.stop()
  t.match(await refresh(origin, clientId, refreshToken), LATER)
  await provider.start()
  goAhead(6000)
  const before = performance.now()
  let answer = await refresh(origin, clientId, refreshToken)
  while (answer.status === 503 && performance.now() - before < 15_000) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    answer = await refresh(origin, clientId, refreshToken)
  }
  t.equal(answer.status, 200, 'the same refresh token still counts')
})

t.test('a refresh token of the provider that counts once is used once', async (t) => {
  const { origin, provider, clientId, refreshToken, goAhead } = await startSignedIn(
    t, { provider: { exchange: { rotates: true } } }
  )
  const before = provider.requestsOf('/token')
  const answers = await Promise.all(Array.from(
    { length: 10 }, async () => await refresh(origin, clientId, refreshToken)
  ))
  for (const { status } of answers) t.equal(status, 200)
  t.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 1)
  t.equal(provider.requestsOf('/token') - before, 1)
  let token = answers[0]?.body.refresh_token
  for (let round = 0; round < 3; round++) {
    goAhead(RECENT_MS)
    const { status, body } = await refresh(origin, clientId, token)
    t.equal(status, 200, 'the rotated one was kept')
    token = body.refresh_token
  }
})

t.test('two devices of one person have tokens of their own', async (t) => {
  const { origin, provider, clientId, refreshToken, goAhead } = await startSignedIn(
    t, { provider: { exchange: { rotates: true } } }
  )
  const second = await signInAs(origin)
  goAhead(RECENT_MS)
  t.equal((await refresh(origin, second.clientId, second.refreshToken)).status, 200)
  provider.replaceAnswer('/token', answerWith(400, 'invalid_grant'))
  t.match(await refresh(origin, clientId, refreshToken), REFUSED)
  provider.replaceAnswer('/token')
  const { body } = await refresh(origin, second.clientId, second.refreshToken)
  t.equal(typeof body.refresh_token, 'string', 'the grant of the other device lives')
})

t.test('a provider that gives no refresh token cannot be asked: the grant ends after a week', async (t) => {
  const { origin, provider, clientId, refreshToken, goAhead } = await startSignedIn(
    t, { provider: { issuesRefreshTokens: false } }
  )
  await provider.stop()
  const { status, body } = await refresh(origin, clientId, refreshToken)
  t.equal(status, 200)
  goAhead(7 * 86_400_000)
  t.match(await refresh(origin, clientId, body.refresh_token), REFUSED)
})

t.test('a second answer of another subject ends the grant', async (t) => {
  const { origin, provider, clientId, refreshToken } = await startSignedIn(t)
  const now = Math.floor(Date.now() / 1000)
  const idToken = await provider.sign({
    iss: provider.issuer, sub: 'mallory', aud: 'trivet', iat: now, exp: now + 600
  }, { typ: 'JWT' })
  provider.replaceAnswer('/token', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({
      access_token: 'x', token_type: 'Bearer', expires_in: 600, id_token: idToken
    }))
  })
  t.match(await refresh(origin, clientId, refreshToken), REFUSED)
})

t.test('no token of the provider is in the log, an answer or a principal (267, 273)', async (t) => {
  const seen: string[] = []
  const { origin, app, clientId, accessToken, refreshToken, log } = await startSignedIn(t, {
    provider: { onTokens: (tokens) => seen.push(...tokens) },
    files: {
      'tools/hello.mjs': `import { defineTool } from 'trivet'
        import { inspect } from 'node:util'
        export default defineTool({
          name: 'hello', description: 'Shows all', inputSchema: { type: 'object' },
          run: (_, ctx) => inspect(ctx, { depth: 8, showHidden: true })
        })`
    }
  })
  const { body: called } = await callHello(`${origin}/mcp`, accessToken)
  const answer = await refresh(origin, clientId, refreshToken)
  t.equal(answer.status, 200)
  t.ok(seen.length >= 4)
  const texts = { log: log.text(), called, answer: JSON.stringify(answer), app: String(app) }
  for (const token of seen) {
    for (const [name, text] of Object.entries(texts)) t.notOk(text.includes(token), `${name} has no such token`)
  }
})
