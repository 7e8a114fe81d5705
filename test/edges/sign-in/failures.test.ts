// What goes wrong on the way: each has a page that says what to do, and the status that fits.

import { setTimeout as pause } from 'node:timers/promises'
import { fastify, type FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { handlePageErrors } from '../../../src/edges/sign-in/page-errors.ts'
import { createOutcomes } from '../../../src/features/sign-in/flows/steps.ts'
import { AuthenticationUnavailable } from '../../../src/platform/access/authentication.ts'
import { invalidRequest } from '../../../src/platform/protocol/errors.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { answer, BACK, beginFlow, open, signInThere, wayOf } from '../../features/sign-in/browser-flow.ts'
import { signIn, startSignInService } from '../../features/sign-in/sign-in-service.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { createPerson } from '../../helpers/person.ts'

t.test('the provider is away', async (t) => {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const page = await open(person, (await beginFlow(origin)).url)
  await provider.stop()
  const away = await answer(person, page, 'allow')
  t.equal(away.status, 503)
  t.match(away.text, '<h1>Signing in does not work at the moment</h1>')
  t.notMatch(away.text, provider.origin, 'no cause is told')
  const connections = new URL(`${origin}/sign-in`)
  t.equal((await person.visit(connections, new URLSearchParams({ action: 'sign-in' }))).status, 503)
})

t.test('the provider goes away before it has said who the person is', async (t) => {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = await signInThere(person, allowed, `${origin}/sign-in/callback`)
  await provider.stop()
  t.equal((await person.visit(callback)).status, 503)
  await provider.start()
  let page = await person.visit(callback)
  for (let attempt = 0; attempt < 40 && page.status === 503; attempt++) {
    await pause(500)
    page = await person.visit(callback)
  }
  t.match(wayOf(page)?.pathname, '/sign-in/authorize/', 'the page can be loaded again')
})

t.test('the provider refuses', async (t) => {
  const { origin } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = new URL(`${origin}/sign-in/callback`)
  const state = wayOf(allowed)?.searchParams.get('state') ?? ''
  callback.search = new URLSearchParams({ error: 'access_denied', state }).toString()
  callback.searchParams.set('iss', wayOf(allowed)?.origin ?? '')
  const refused = await person.visit(callback)
  t.equal(refused.status, 403)
  t.match(refused.text, '<h1>You are not signed in</h1>')
  const [again = '', back = ''] = [...refused.text.matchAll(/href="([^"]+)"/g)].map(
    ([, href = '']) => href.replaceAll('&amp;', '&')
  )
  const asked = await open(person, new URL(again))
  t.match(asked.text, '<h1>Allow ', 'the person can try again')
  const told = await person.follow(new URL(back), BACK)
  t.equal(told.url.searchParams.get('error'), 'access_denied', 'or tell the client')
  t.equal(told.url.searchParams.get('error_description'), 'the identity provider has refused the sign-in')
})

t.test('what the provider says of a refusal is cut in the log, and no page shows it', async (t) => {
  const log = createReadableLog()
  const { origin } = await startSignInService(t, { logger: log.logger })
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = new URL(`${origin}/sign-in/callback`)
  callback.search = new URLSearchParams({
    error: `\u001b[31m<b>${'x'.repeat(5000)}`,
    error_description: 'y'.repeat(5000),
    state: wayOf(allowed)?.searchParams.get('state') ?? '',
    iss: wayOf(allowed)?.origin ?? ''
  }).toString()
  const refused = await person.visit(callback)
  t.equal(refused.status, 403)
  t.notMatch(refused.text, 'xxx')
  const { reason } = log.lines.find(({ msg }) => msg === 'a person was not signed in') ?? {}
  t.match(reason, 'xxx')
  t.ok(String(reason).length <= 101, `${String(reason).length} characters`)
  t.notMatch(reason, '\u001b', 'no terminal obeys it')
  t.notMatch(log.text(), 'yyy')
})

t.test('the rules admit somebody else', async (t) => {
  const { origin } = await startSignInService(t, {}, {
    'server.yaml': 'title: Books', 'sign-in.yaml': 'admit: [{ claim: sub, anyOf: [alice] }]'
  })
  const person = createPerson({ name: 'bob' })
  const page = await person.follow((await beginFlow(origin)).url, BACK)
  t.equal(page.status, 403)
  t.match(page.text, '<h1>This account may not come in</h1>')
  const [, back = ''] = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
  t.equal((await person.follow(new URL(back), BACK)).url.searchParams.get('error'), 'access_denied')
  const passage = await person.visit(new URL(`${origin}/sign-in`), new URLSearchParams({ action: 'sign-in' }))
  const refused = await person.visit(await signInThere(person, passage, `${origin}/sign-in/callback`))
  t.equal(refused.status, 403)
  t.match(refused.text, `href="${origin}/sign-in">Try again`)
})

t.test('each error has the status that fits, and no cause', async (t) => {
  const log = createReadableLog()
  const loggerInstance: FastifyBaseLogger = log.logger
  const app = fastify({ loggerInstance })
  t.teardown(async () => await app.close())
  handlePageErrors(app, () => 'Books', createOutcomes())
  const errors: ReadonlyArray<readonly [error: Error, status: number]> = [
    [new AuthenticationUnavailable('secret.example is away'), 503],
    [new StoreUnavailable(new Error('redis://secret.example')), 503],
    [new Error('secret.example'), 503],
    [invalidRequest('Too much', 429), 429],
    [Object.assign(new Error('a'), { statusCode: 400, error_description: 'no such client' }), 400],
    [Object.assign(new Error('secret.example'), { statusCode: 500 }), 503]
  ]
  for (const [index, [error]] of errors.entries()) app.get(`/${index}`, () => { throw error })
  for (const [index, [error, status]] of errors.entries()) {
    const { statusCode, body, headers } = await app.inject(`/${index}`)
    t.equal(statusCode, status, error.message)
    t.notMatch(body, 'secret')
    t.match(headers['content-security-policy'], "frame-ancestors 'none'")
  }
  const lines = log.lines.filter(({ level }) => Number(level) >= 50)
  t.match(lines, [{ msg: 'people cannot sign in', err: { message: 'secret.example is away' } }])
  t.equal(lines.length, 1, 'an outage does not fill the log')
})

t.test('a callback that is loaded twice signs nobody in twice', async (t) => {
  const { origin } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = await signInThere(person, allowed, `${origin}/sign-in/callback`)
  const back = await person.follow(callback, BACK)
  t.ok(back.url.searchParams.has('code'))
  const again = await person.visit(callback)
  t.equal(again.status, 400)
  t.match(again.text, '<h1>This sign-in has ended</h1>')
})

t.test('a callback that comes several times at once signs the person in', async (t) => {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = await signInThere(person, allowed, `${origin}/sign-in/callback`)
  const codes = provider.requestsOf('/token')
  const visits = await Promise.all([1, 2, 3].map(async () => await person.visit(callback)))
  visits.push(await person.visit(callback))
  for (const visit of visits) t.match(wayOf(visit)?.pathname, '/sign-in/authorize/')
  t.equal(provider.requestsOf('/token') - codes, 1)
  const [first] = visits
  const back = first && await person.follow(wayOf(first) ?? first.url, BACK)
  t.ok(back?.url.searchParams.has('code'))
})

t.test('the provider is asked once for each way, whatever strangers make up', async (t) => {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const page = await person.visit(new URL(`${origin}/sign-in`), new URLSearchParams({ action: 'sign-in' }))
  const cookie = [...person.jars.get(origin) ?? []].map(([key, value]) => `${key.split(' ')[1]}=${value}`).join('; ')
  for (const start of [allowed, page]) {
    const codes = provider.requestsOf('/token')
    const state = wayOf(start)?.searchParams.get('state') ?? ''
    await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const query = new URLSearchParams({ state, code: `made-up-${index}`, iss: provider.issuer })
      await fetch(`${origin}/sign-in/callback?${query}`, { redirect: 'manual', headers: { cookie } })
    }))
    t.equal(provider.requestsOf('/token') - codes, 1)
  }
})

t.test('too many assistants are connected', { timeout: 120_000 }, async (t) => {
  const { origin } = await startSignInService(t)
  const person = createPerson()
  for (let count = 0; count < 100; count++) {
    const { back } = await signIn(origin, { person })
    if (!back.url.searchParams.has('code')) throw new Error(`${count}: ${back.text}`)
  }
  const page = await person.follow((await beginFlow(origin)).url, BACK)
  t.equal(page.status, 409)
  t.match(page.text, 'Too many assistants are connected')
  t.match(page.text, `href="${origin}/sign-in"`)
})
