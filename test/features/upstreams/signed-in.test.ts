// Tools that call an upstream as their users, through the whole service.

import { Agent } from 'node:http'
import { join } from 'node:path'
import { readdir, writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { createService, type AppOptions } from '../../../src/app/app.ts'
import { replaceTime } from '../../../src/base/time.ts'
import { CLIENT } from './tokens/exchange-setup.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { openSession } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'
import {
  AS_CALLER, AS_SERVICE, openSignedIn, RESOURCE, serveSignedIn, signFor, startCrm, startIssuer, WHO
} from './signed-in.ts'
import { crmModule } from './upstream-server.ts'

const MUST_SIGN_IN = /^The service crm must know which user calls\. The user must sign in, and call again\.$/
const REFUSED = /^The service crm cannot be called for this user: access was refused\. The user may have to/

t.test('1,000 calls of two users at once: none is crossed', async (t) => {
  const { url, sign, issuer, crm } = await openSignedIn(t)
  const users = ['alice', 'bob']
  const tokens = await Promise.all(users.map(async (user) => await sign(user)))
  const agent = new Agent({ keepAlive: true, maxSockets: 40 })
  t.teardown(() => agent.destroy())
  const counts = { right: 0, crossed: 0 }
  // No user has more calls at once than a principal's share of the upstream: 25.
  await Promise.all(Array.from({ length: 40 }, async (_, index) => {
    const user = index % 2
    const headers = { authorization: `Bearer ${tokens[user]}` }
    for (let call = 0; call < 25; call++) {
      const { response } = await post(
        t, url, { method: 'tools/call', params: { name: 'who' }, headers }, { agent }
      )
      counts[response.result.content[0].text === users[user] ? 'right' : 'crossed']++
    }
  }))
  t.strictSame(counts, { right: 1000, crossed: 0 })
  t.equal(crm.taken.length, 1000)
  t.equal(new Set(crm.taken).size, 2)
  t.equal(issuer.requestsOf('/token'), 2, 'one exchange for each')
  for (const token of tokens) t.notOk(crm.taken.includes(token), 'the own token goes to the issuer alone')
})

t.test('a token of another audience is refused before any call', async (t) => {
  const { url, sign, issuer, crm } = await openSignedIn(t)
  for (const claims of [{ aud: 'https://crm.example' }, { iss: 'https://other.example' }]) {
    const headers = { authorization: `Bearer ${await sign('alice', claims)}` }
    const { status } = await post(t, url, { method: 'tools/call', params: { name: 'who' }, headers })
    t.equal(status, 401)
  }
  t.strictSame([issuer.requestsOf('/token'), crm.requests], [0, 0])
})

t.test('what the issuer has taken back calls nothing, and the model can say what to do', async (t) => {
  const revoked = new Set<string>()
  const { call, sign, issuer, crm, log } = await openSignedIn(t, { exchange: { revoked } })
  revoked.add('bob')
  const [alice, bob] = [await sign('alice'), await sign('bob')]
  t.match(await call(bob), REFUSED)
  t.match(await call(bob), REFUSED)
  t.equal(issuer.requestsOf('/token'), 1, 'a refusal is remembered')
  t.equal(await call(alice), 'alice')
  t.equal(crm.requests, 1)
  t.match(log.lines.filter(({ msg }) => msg === 'upstream call failed'), [
    { upstream: 'crm', outcome: 'caller', err: { failure: 'refused', message: /invalid_grant$/ } }, {}
  ])
})

t.test('an upstream that takes the token back causes one new exchange', async (t) => {
  const { call, sign, issuer, crm } = await openSignedIn(t, {
    files: {
      'tools/who.ts': WHO.replace("'who')", "'who', { method: 'POST', json: { a: 1 } })")
    }
  })
  const alice = await sign('alice')
  t.equal(await call(alice), 'alice')
  for (const token of crm.taken) crm.refused.add(token)
  t.equal(await call(alice), 'alice', 'also by POST: a call without a right was not done')
  t.equal(issuer.requestsOf('/token'), 2)
  for (const token of crm.taken) crm.refused.add(token)
  await call(alice)
  await call(alice)
  t.equal(issuer.requestsOf('/token'), 2, 'not for each call')
})

t.test('callers without a token of an issuer are told that they must sign in', async (t) => {
  const issuer = await startIssuer(t)
  const crm = await startCrm(t, issuer)
  const { entry, token } = createStaticToken({
    subject: 'ci', scopes: [], expiresAt: new Date('2100-01-01T00:00:00Z')
  })
  const authTokens = join(await writeCatalog(t, { 'tokens.yaml': `${entry}\n` }), 'tokens.yaml')
  const options: AppOptions = { auth: ['jwt', 'tokens', 'none'], authTokens }
  const { call } = await serveSignedIn(t, issuer, crm, { options })
  t.match(await call(undefined), MUST_SIGN_IN)
  t.match(await call(token), MUST_SIGN_IN)
  t.equal(await call(await signFor(issuer, 'alice')), 'alice')
  t.strictSame([issuer.requestsOf('/token'), crm.requests], [1, 1])
})

t.test('an opaque token is exchanged too', async (t) => {
  const { call, issuer, crm } = await openSignedIn(t, {
    settings: { format: 'opaque' }, options: { auth: ['introspection'] }
  })
  const users = ['alice', 'bob']
  const tokens = await Promise.all(users.map(
    async (user) => (await issuer.signIn({ user, scope: 'books:read' })).access_token
  ))
  const before = issuer.requestsOf('/token')
  for (const token of tokens) t.notMatch(token, '.')
  t.strictSame(await Promise.all(tokens.map(async (token) => await call(token))), users)
  t.strictSame(await Promise.all(tokens.map(async (token) => await call(token))), users)
  t.strictSame([issuer.requestsOf('/token/introspection'), issuer.requestsOf('/token') - before], [2, 2])
  t.equal(new Set(crm.taken).size, 2)
})

t.test('prompts, resources, lists and completions call as the user', async (t) => {
  const head = `import * as trivet from 'trivet'
    import { crm } from '../lib/crm.ts'
    const who = async (ctx) => (await (await ctx.fetch(crm, 'who')).json()).subject\n`
  const { ask, sign, crm } = await openSignedIn(t, {
    files: {
      'prompts/p.ts': `${head} export default trivet.definePrompt({
        name: 'p', upstreams: [crm], render: async (_, ctx) => await who(ctx),
        arguments: [{ name: 'x', complete: async (_, ctx) => [await who(ctx)] }]
      })`,
      'resources/r.resource.ts': `${head} export const fixed = trivet.defineResource({
          uri: 'r://fixed', name: 'fixed', upstreams: [crm],
          read: async (ctx) => await who(ctx)
        })
        export const template = trivet.defineResourceTemplate({
          uriTemplate: 'r://{id}/x', name: 'template', upstreams: [crm],
          complete: { id: async (_, ctx) => [await who(ctx)] },
          read: async (_, ctx) => await who(ctx)
        })`
    }
  })
  const ref = { type: 'ref/prompt', name: 'p' }
  const templateRef = { type: 'ref/resource', uri: 'r://{id}/x' }
  const tokens = new Map(await Promise.all(['alice', 'bob'].map(
    async (user) => [user, await sign(user)] as const
  )))
  for (const [user, token] of tokens) {
    const answers = await Promise.all([
      ask(token, 'prompts/get', { name: 'p' }),
      ask(token, 'resources/read', { uri: 'r://fixed' }),
      ask(token, 'resources/read', { uri: 'r://1/x' }),
      ask(token, 'completion/complete', { ref, argument: { name: 'x', value: '' } }),
      ask(token, 'completion/complete', { ref: templateRef, argument: { name: 'id', value: '' } })
    ])
    t.match(answers, [
      { messages: [{ content: { text: user } }] },
      { contents: [{ text: user }] },
      { contents: [{ text: user }] },
      { completion: { values: [user] } },
      { completion: { values: [user] } }
    ])
  }
  t.equal(crm.requests, 10)
})

t.test('a session of an earlier revision calls as the user of each request', async (t) => {
  const { url, sign, issuer, crm } = await openSignedIn(t)
  const [first, renewed] = [await sign('alice'), await sign('alice')]
  const session = await openSession(t, url, { headers: { authorization: `Bearer ${first}` } })
  const later = session.with({ headers: { authorization: `Bearer ${renewed}` } })
  for (const one of [session, later]) {
    t.match((await one.call('who')).response, { result: { content: [{ text: 'alice' }] } })
  }
  t.equal(new Set(crm.taken).size, 2, 'the new token of the user is exchanged anew')
  t.equal(issuer.requestsOf('/token'), 2)
})

t.test('a reload that changes who calls lets running calls end, and later ones call anew', async (t) => {
  const issuer = await startIssuer(t)
  const crm = await startCrm(t, issuer)
  const slow = `import { defineTool } from 'trivet'
    import { crm } from '../lib/crm.ts'
    export default defineTool({
      name: 'who', upstreams: [crm],
      async run (_, ctx) {
        const seen = []
        for (let i = 0; i < 4; i++) {
          seen.push((await (await ctx.fetch(crm, 'who')).json()).subject)
          await new Promise((done) => setTimeout(done, 100))
        }
        return seen.join(' ')
      }
    })`
  const { call, folder, reload, catalog, log } = await serveSignedIn(t, issuer, crm, {
    files: { 'tools/who.ts': slow }
  })
  const alice = await signFor(issuer, 'alice')
  const version = catalog.current.version
  const running = [call(alice), call(alice)]
  await until(() => crm.requests >= 2, 'the first calls')
  await writeFile(join(folder, 'lib/crm.ts'), crmModule(crm.url, AS_SERVICE))
  reload()
  await until(() => catalog.current.version !== version, 'the new catalog')
  t.equal(await call(alice), Array.from({ length: 4 }, () => CLIENT.clientId).join(' '))
  t.strictSame(await Promise.all(running), Array.from({ length: 2 }, () => 'alice alice alice alice'))

  await writeFile(join(folder, 'lib/crm.ts'), crmModule(crm.url, "auth: { type: 'exchange' }"))
  reload()
  await until(() => log.text().includes('an audience, a resource or scopes'), 'the problem')
  t.match(await call(alice), CLIENT.clientId, 'a catalog with a problem is not served')
})

t.test('clocks that are 90 s apart from that of the issuer change nothing', async (t) => {
  for (const aheadMs of [90_000, -90_000]) {
    const restore = replaceTime({ now: () => Date.now() + aheadMs })
    t.teardown(restore)
    const { call, sign, issuer } = await openSignedIn(t)
    const alice = await sign('alice')
    t.equal(await call(alice), 'alice', `${aheadMs} ms`)
    t.equal(await call(alice), 'alice')
    t.equal(issuer.requestsOf('/token'), 1)
    restore()
  }
})

async function problemOf (t: Test, options: AppOptions): Promise<string> {
  const catalog = await writeCatalog(t, {
    'lib/crm.ts': crmModule('https://crm.example.com/', AS_CALLER), 'tools/who.ts': WHO
  })
  const folder = await writeCatalog(t, {})
  const stateUrl = `file:${join(folder, 'data')}`
  const error: Error = await createService({ ...QUIET, catalog, stateUrl, ...options }).then(
    async ({ close }) => {
      await close()
      return new Error('it starts')
    }, (reason: Error) => reason
  )
  t.strictSame(await readdir(join(folder, 'data')).catch(() => []), [], 'and leaves nothing behind')
  return error.message
}

t.test('a service that can exchange nothing does not start, and says what to set', async (t) => {
  const place = 'lib/crm.ts: crm.auth: '
  const asJwt: AppOptions = { auth: ['jwt'], publicUrl: RESOURCE, authIssuers: ['https://id.example'] }
  for (const [options, words] of [
    [{}, 'needs TRIVET_AUTH with jwt or introspection'],
    [asJwt, 'needs TRIVET_AUTH_CLIENT_ID with TRIVET_AUTH_CLIENT_SECRET or TRIVET_AUTH_CLIENT_KEY'],
    [
      {
        ...asJwt,
        authIssuers: ['https://id.example', 'https://other.example'],
        authClientId: 'a',
        authClientSecret: 'CANARY'
      }, 'With TRIVET_AUTH_CLIENT_KEY it works with several'
    ]
  ] as const) {
    const message = await problemOf(t, options)
    t.match(message, place)
    t.match(message, words)
    t.notMatch(message, 'CANARY')
  }
})
