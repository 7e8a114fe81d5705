// Upstreams that are called as the service, and those that learn of the caller by claims.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { CLIENT } from './tokens/exchange-setup.ts'
import { until } from '../../helpers/deadline.ts'
import { AS_SERVICE, openSignedIn, RESOURCE, serveSignedIn, signFor, startIssuer, WHO } from './signed-in.ts'
import { crmModule, startUpstream } from './upstream-server.ts'

const AUDIENCE = 'https://crm.example'
const BY_CLAIMS = `auth: {
  type: 'claims',
  headers: ({ email }) => ({ 'x-user': email }),
  jwt: { audience: '${AUDIENCE}', claims: ({ email, iss }) => ({ email, at: iss }) }
}`

t.test('the service calls with one token of its own, for all callers', async (t) => {
  const { call, sign, issuer, crm } = await openSignedIn(t, {
    definition: AS_SERVICE, options: { auth: ['jwt', 'none'] }
  })
  const tokens = [undefined, await sign('alice'), await sign('bob')]
  const answers = await Promise.all([...tokens, ...tokens].map(async (token) => await call(token)))
  t.strictSame(new Set(answers), new Set([CLIENT.clientId]))
  t.equal(new Set(crm.taken).size, 1)
  t.equal(issuer.requestsOf('/token'), 1)
  for (const token of crm.taken) crm.refused.add(token)
  t.equal(await call(undefined), CLIENT.clientId, 'a token that was taken back is asked for anew')
  t.equal(issuer.requestsOf('/token'), 2)
})

t.test('a service that gets no token of its own blames no user', async (t) => {
  const definition = "auth: { type: 'service', resource: 'no URI' }"
  const { call, sign } = await openSignedIn(t, { definition })
  t.equal(
    await call(await sign('alice')),
    'The service crm cannot be called now: signing in there failed. Try again later.'
  )
})

/** An upstream that verifies the JWTs of the service by its published keys. */
async function openByClaims (t: Test, options: AppOptions = {}) {
  const issuer = await startIssuer(t)
  const published: { keys?: ReturnType<typeof createRemoteJWKSet> } = {}
  const crm = await startUpstream(t, async ({ headers }, response) => {
    try {
      if (published.keys === undefined) throw new Error('no keys yet')
      const { payload } = await jwtVerify(
        String(headers.authorization).replace('Bearer ', ''), published.keys,
        { issuer: RESOURCE, audience: AUDIENCE, maxTokenAge: 60 }
      )
      const { sub, email, at } = payload
      const subject = [headers['x-user'], sub, email, at === issuer.issuer].join(' ')
      response.end(JSON.stringify({ subject }))
    } catch (error) {
      response.writeHead(401).end(JSON.stringify({ subject: String(error) }))
    }
  })
  const service = await serveSignedIn(t, issuer, crm, { definition: BY_CLAIMS, options })
  const keysUrl = new URL('/.well-known/jwks.json', service.origin)
  published.keys = createRemoteJWKSet(keysUrl)
  return { ...service, issuer, crm, keysUrl }
}

t.test('claims come as headers and as a JWT that the published keys verify', async (t) => {
  const { call, issuer, keysUrl } = await openByClaims(t, { auth: ['jwt', 'none'] })
  const tokens = await Promise.all(['alice', 'bob'].map(
    async (user) => await signFor(issuer, user, { email: `${user}@example.com` })
  ))
  for (let i = 0; i < 20; i++) {
    t.strictSame(await Promise.all(tokens.map(async (token) => await call(token))), [
      'alice@example.com alice alice@example.com true', 'bob@example.com bob bob@example.com true'
    ])
  }
  t.match(await call(undefined), /must know which user calls/)
  t.match(await call(await signFor(issuer, 'carol')), /must know which user calls/, 'no claim for the header')
  const response = await fetch(keysUrl)
  t.match(response.headers.get('content-type'), /^application\/jwk-set\+json/)
  const { keys } = await response.json() as { keys: object[] }
  t.ok(keys.length > 0)
  for (const key of keys) t.notOk('d' in key, 'no private key')
})

t.test('replicas with one secret have the same keys', async (t) => {
  const secrets = ['a secret that all replicas of this test have']
  const replicas = [await openByClaims(t, { secrets }), await openByClaims(t, { secrets })]
  const [one, other] = await Promise.all(replicas.map(
    async ({ keysUrl }) => await (await fetch(keysUrl)).text()
  ))
  t.equal(one, other)
})

t.test('keys are published while an upstream gets claims', async (t) => {
  const { origin, crm, folder, reload } = await openSignedIn(t, { definition: AS_SERVICE })
  const statusOfKeys = async () => (await fetch(new URL('/.well-known/jwks.json', origin))).status
  t.equal(await statusOfKeys(), 404)
  await writeFile(join(folder, 'lib/crm.ts'), crmModule(crm.url, BY_CLAIMS))
  reload()
  await until(async () => await statusOfKeys() === 200, 'the keys')
  await writeFile(join(folder, 'lib/crm.ts'), crmModule(crm.url, AS_SERVICE))
  await writeFile(join(folder, 'tools/who.ts'), WHO)
  reload()
  await until(async () => await statusOfKeys() === 404, 'their end')
})
