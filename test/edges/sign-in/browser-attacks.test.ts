// Attacks on the browser of a person who signs in.

import t from 'tap'
import {
  answer, BACK, beginFlow, open, signInThere, tokenOf, wayOf
} from '../../features/sign-in/browser-flow.ts'
import { callHello, HELLO, startSignInService } from '../../features/sign-in/sign-in-service.ts'
import { createPerson, type Visit } from '../../helpers/person.ts'

const cookiesOf = ({ headers }: Visit) => headers.getSetCookie()

t.test('a form that another site sends counts for nothing', async (t) => {
  const { origin } = await startSignInService(t)
  const person = createPerson()
  const page = await open(person, (await beginFlow(origin)).url)
  const signInPage = await person.visit(new URL(`${origin}/sign-in`))
  const cookie = [...person.jars.get(origin) ?? []].map(([key, value]) => `${key.split(' ')[1]}=${value}`).join('; ')
  const senders: ReadonlyArray<Record<string, string>> = [
    {}, { origin: 'null' }, { origin: 'https://evil.example' }, { origin: `${origin}.evil.example` },
    { origin, 'sec-fetch-site': 'cross-site' }, { origin, 'sec-fetch-site': 'same-site' }
  ]
  for (const url of [page.url, signInPage.url]) {
    for (const headers of senders) {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...headers, cookie },
        body: new URLSearchParams({ answer: 'allow', action: 'sign-in', token: tokenOf(page) })
      })
      t.equal(response.status, 403, JSON.stringify(headers))
      t.match(await response.text(), 'The form is one of another site')
      t.strictSame(response.headers.getSetCookie(), [])
    }
  }
  t.match(wayOf(await answer(person, page, 'allow'))?.pathname, '/auth', 'the person can go on')
})

t.test('a login that an attacker has begun is not finished by the victim', async (t) => {
  const { origin, provider, endpoint } = await startSignInService(t)
  const [attacker, victim] = [createPerson({ name: 'mallory' }), createPerson({ name: 'alice' })]
  const flow = await beginFlow(origin, { clientName: 'Attacker' })
  const allowed = await answer(attacker, await open(attacker, flow.url), 'allow')
  const callback = await signInThere(victim, allowed, `${origin}/sign-in/callback`)
  const codes = provider.requestsOf('/token')
  const landed = await open(victim, callback)
  t.equal(landed.status, 400)
  t.match(landed.text, 'it was begun in another browser or app')
  t.notMatch(landed.url.href + landed.text, 'the state of the client')
  t.equal(provider.requestsOf('/token'), codes, 'the code of the provider is not redeemed')
  const mine = await attacker.visit(callback)
  t.equal(mine.status, 303, 'the attacker has the cookie, and gets what the attacker was given')
  t.match(wayOf(mine)?.pathname, '/sign-in/authorize/')
  t.equal((await callHello(endpoint, 'none')).status, 401)
})

t.test('a flow that a neighbour host puts into a browser gives away nothing of it', async (t) => {
  const { origin } = await startSignInService(t)
  const [attacker, victim] = [createPerson({ name: 'mallory' }), createPerson({ name: 'alice' })]
  const page = await open(attacker, (await beginFlow(origin)).url)
  const jar = attacker.jars.get(origin) ?? new Map<string, string>()
  victim.jars.set(origin, new Map([...jar].filter(([key]) => key.includes('/consent/'))))
  const allowed = await answer(victim, await victim.visit(page.url), 'allow')
  const done = await victim.visit(await signInThere(victim, allowed, `${origin}/sign-in/callback`))
  const resumed = new URL(`${origin}/sign-in/authorize/${page.url.pathname.split('/').at(-1)}`)
  t.equal(wayOf(done)?.href, resumed.href)
  const stolen = await attacker.visit(resumed)
  t.equal(stolen.status, 400)
  t.equal(wayOf(stolen), undefined)
  t.match(stolen.text, 'the sign-in was finished in another browser')
})

t.test('what a victim has signed in to there is not the attacker\'s to take', async (t) => {
  const { origin } = await startSignInService(t)
  const [attacker, victim] = [createPerson({ name: 'mallory' }), createPerson({ name: 'alice' })]
  const [first, second] = [await beginFlow(origin), await beginFlow(origin)]
  const attackers = await answer(attacker, await open(attacker, first.url), 'allow')
  const victims = await answer(victim, await open(victim, second.url), 'allow')
  const attackersCallback = await signInThere(attacker, attackers, `${origin}/sign-in/callback`)
  const victimsCallback = await signInThere(victim, victims, `${origin}/sign-in/callback`)

  await t.test('a callback with the state of another browser ends here', async (t) => {
    const page = await open(victim, attackersCallback)
    t.match(page.text, 'it was begun in another browser or app')
  })
  await t.test('a code of another browser is refused', async (t) => {
    const mixed = new URL(victimsCallback)
    mixed.searchParams.set('code', attackersCallback.searchParams.get('code') ?? '')
    const page = await victim.visit(mixed)
    t.equal(page.status, 403)
    t.match(page.text, '<h1>You are not signed in</h1>')
    t.strictSame(cookiesOf(page).filter((line) => line.includes('sign-in-page')), [])
  })
})

t.test('an answer of another issuer is refused', async (t) => {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const allowed = await answer(person, await open(person, (await beginFlow(origin)).url), 'allow')
  const callback = await signInThere(person, allowed, `${origin}/sign-in/callback`)
  t.equal(callback.searchParams.get('iss'), provider.issuer)
  callback.searchParams.set('iss', 'https://evil.example')
  const codes = provider.requestsOf('/token')
  const page = await person.visit(callback)
  t.equal(page.status, 403)
  t.equal(provider.requestsOf('/token'), codes, 'and not redeemed')
})

t.test('a state that nobody has begun ends here', async (t) => {
  const { origin } = await startSignInService(t)
  for (const query of ['', '?state=', '?state=a&code=b', '?state=a%0d%0aset-cookie:b', `?state=${'a'.repeat(4000)}`]) {
    const page = await createPerson().visit(new URL(`${origin}/sign-in/callback${query}`))
    t.equal(page.status, 400)
    t.strictSame(cookiesOf(page), [])
  }
})

t.test('the service sends nobody to an address that is not the client\'s', async (t) => {
  const { origin } = await startSignInService(t)
  const { url } = await beginFlow(origin)
  const addresses = [
    'https://evil.example/', 'http://127.0.0.1.evil.example/back', 'http://127.0.0.1/back/..',
    'http://127.0.0.1@evil.example/back', `${BACK}?next=https://evil.example`, '//evil.example/'
  ]
  for (const address of addresses) {
    url.searchParams.set('redirect_uri', address)
    const page = await open(createPerson(), url)
    t.equal(page.status, 400, address)
    t.equal(wayOf(page), undefined)
    t.notMatch(page.text, 'href=')
  }
})

t.test('an error sends nobody to a host that has registered itself', async (t) => {
  const { origin } = await startSignInService(t)
  const errors: ReadonlyArray<Record<string, string>> = [
    { prompt: 'none' }, { code_challenge: '' }, { response_type: 'token' }, { response_mode: 'fragment' },
    { resource: 'https://x.example' }
  ]
  for (const params of errors) {
    const { url } = await beginFlow(origin, { redirectUri: 'https://evil.example/phish', params })
    const page = await createPerson().visit(url)
    t.equal(page.status, 400, JSON.stringify(params))
    t.equal(wayOf(page), undefined)
    t.match(page.text, /<a href="https:\/\/evil\.example\/phish\?[^"]*error=[^"]*">Back to evil\.example<\/a>/)
  }
})

t.test('a client that the operator has named gets its errors itself', async (t) => {
  const clientId = 'https://trusted.example/client.json'
  const redirectUri = 'https://trusted.example/back'
  const { origin } = await startSignInService(t, {}, {
    ...HELLO,
    'sign-in.yaml': `clients: { documents: { '${clientId}': client.json } }`,
    'client.json': JSON.stringify({ client_id: clientId, client_name: 'Known', redirect_uris: [redirectUri] })
  })
  const { url } = await beginFlow(origin, { clientId, redirectUri, params: { prompt: 'none' } })
  const back = wayOf(await createPerson().visit(url))
  t.equal(back && back.origin + back.pathname, redirectUri)
  t.equal(back?.searchParams.get('error'), 'login_required')
  t.equal(back?.searchParams.get('iss'), origin)
  t.equal(back?.searchParams.get('state'), url.searchParams.get('state'))
})

t.test('the way back to the engine is that of a flow, and has no parameters of its own', async (t) => {
  const { origin } = await startSignInService(t)
  for (const flow of ['%3Fprompt=none', 'a'.repeat(65), '..%2ftoken', '%00', 'a%0d%0ab']) {
    const page = await createPerson().visit(new URL(`${origin}/sign-in/authorize/${flow}`))
    t.ok([400, 404].includes(page.status), `${flow}: ${page.status}`)
    t.equal(wayOf(page), undefined)
  }
})

t.test('each page has the policy of pages', async (t) => {
  const { origin } = await startSignInService(t)
  const person = createPerson()
  const { url } = await beginFlow(origin)
  const broken = new URL(url)
  broken.searchParams.set('redirect_uri', 'https://evil.example')
  const consent = await open(person, url)
  const pages = {
    consent,
    passage: await answer(person, consent, 'allow'),
    lost: await person.visit(new URL(`${origin}/sign-in/callback`)),
    'signed out': await person.visit(new URL(`${origin}/sign-in`)),
    'error of the engine': await person.visit(broken),
    refused: await person.visit(consent.url, new URLSearchParams({ answer: 'x'.repeat(10_000) }))
  }
  for (const [name, { headers, text }] of Object.entries(pages)) {
    const policy = headers.get('content-security-policy') ?? ''
    t.match(policy, "default-src 'none'", name)
    t.match(policy, "form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
    t.notMatch(policy, 'script')
    t.notMatch(text, /<script|\son\w+=/)
    t.match(headers.get('cache-control'), 'no-store')
    t.match(headers.get('referrer-policy'), /^(same-origin|no-referrer)$/)
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.equal(headers.get('access-control-allow-origin'), null)
  }
  t.equal(pages.refused.status, 413)
})

t.test('no page of another origin reads what a person sees', async (t) => {
  const { origin } = await startSignInService(t)
  for (const path of ['/sign-in', '/sign-in/callback', '/sign-in/consent/a', '/sign-in/authorize']) {
    for (const method of ['GET', 'OPTIONS']) {
      const response = await fetch(`${origin}${path}`, {
        method, headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' }
      })
      const names = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'))
      t.strictSame(names, [], `${method} ${path}`)
    }
  }
})

t.test('cookies are for this host, and for no script', async (t) => {
  await t.test('by http, on loopback', async (t) => {
    const { origin } = await startSignInService(t)
    const person = createPerson()
    const page = await open(person, (await beginFlow(origin)).url)
    const [line = ''] = cookiesOf(await answer(person, page, 'allow'))
    t.match(line, /^sign-in-way-[\w-]+=[\w.-]+; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/)
  })
  await t.test('by https', async (t) => {
    const { app } = await startSignInService(t, { publicUrl: 'https://books.example/mcp' })
    const { headers } = await app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { origin: 'https://books.example', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'action=sign-in'
    })
    t.match(
      headers['set-cookie'],
      /^__Host-sign-in-way-[\w-]+=[\w.-]+; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax; Secure$/
    )
  })
})
