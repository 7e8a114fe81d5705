// A consent that the browser remembers: for the same person, client, document, redirect and scopes.

import t, { type Test } from 'tap'
import {
  answer, BACK, beginFlow, open, signInThere, tokenOf, wayOf, type FlowOptions
} from '../../features/sign-in/browser-flow.ts'
import { startSignInService } from '../../features/sign-in/sign-in-service.ts'
import { createPerson, type Person } from '../../helpers/person.ts'

const CLIENT_ID = 'https://client.example/oauth.json'
const REDIRECT_URI = 'https://client.example/back'
const DOCUMENT = {
  client_id: CLIENT_ID, client_name: 'Example', redirect_uris: [REDIRECT_URI, 'https://client.example/other', BACK]
}
const RULES = `
clients:
  documents:
    ${CLIENT_ID}: client.json
scopes:
  books:read: everyone
  books:write: { claim: sub, anyOf: [alice] }
`

async function start (t: Test, document: object = DOCUMENT, secrets = ['a'.repeat(32)]) {
  return await startSignInService(t, { secrets }, {
    'server.yaml': 'title: Books', 'sign-in.yaml': RULES, 'client.json': JSON.stringify(document)
  })
}

/** Allows if asked, and resolves to whether the person was asked. */
async function connect (origin: string, person: Person, options: FlowOptions = {}): Promise<boolean> {
  const { redirectUri = REDIRECT_URI } = options
  const { url } = await beginFlow(origin, { clientId: CLIENT_ID, redirectUri, ...options })
  const page = await open(person, url)
  const isAsked = page.text.includes('<h1>Allow ')
  const start = isAsked ? await answer(person, page, 'allow') : page
  const callback = await signInThere(person, start, `${origin}/sign-in/callback`)
  const back = await person.follow(callback, redirectUri)
  if (!back.url.searchParams.has('code')) throw new Error(`no code: ${back.url.href} ${back.text}`)
  return isAsked
}

t.test('a person who has allowed a client is not asked again in this browser', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  t.equal(await connect(origin, person), true)
  t.equal(await connect(origin, person), false)
  t.equal(await connect(origin, createPerson()), true, 'in another browser')
})

t.test('a person who ends a connection is asked again in all browsers', async (t) => {
  const { origin } = await start(t)
  const [laptop, phone] = [createPerson(), createPerson()]
  await connect(origin, laptop)
  t.equal(await connect(origin, laptop), false)
  const url = new URL(`${origin}/sign-in`)
  const passage = await phone.visit(url, new URLSearchParams({ action: 'sign-in' }))
  const page = await open(phone, await signInThere(phone, passage, `${origin}/sign-in/callback`))
  await phone.visit(url, new URLSearchParams({ action: 'end-all', token: tokenOf(page) }))
  t.equal(await connect(origin, laptop), true)
  t.equal(await connect(origin, laptop), false, 'a later consent counts')
})

t.test('something else is asked again', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  t.equal(await connect(origin, person, { params: { scope: 'books:read' } }), true)
  t.equal(await connect(origin, person, { params: { scope: 'books:read' } }), false)
  t.equal(await connect(origin, person, { params: { scope: 'books:read books:write' } }), true, 'more scopes')
  t.equal(await connect(origin, person, { redirectUri: 'https://client.example/other' }), true, 'a redirect')
  t.equal(await connect(origin, person, { params: { prompt: 'consent' } }), true, 'the client wants it')
})

t.test('programs of the device and self-registered clients are asked each time (275)', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  for (let time = 0; time < 2; time++) t.equal(await connect(origin, person, { redirectUri: BACK }), true)
  const registered = await beginFlow(origin, { redirectUri: REDIRECT_URI })
  for (let time = 0; time < 2; time++) {
    t.equal(await connect(origin, person, { clientId: registered.clientId }), true)
  }
})

t.test('a document that has changed is asked again', async (t) => {
  const first = await start(t)
  const person = createPerson()
  t.equal(await connect(first.origin, person), true)
  const second = await start(t, { ...DOCUMENT, client_name: 'Another' })
  person.jars.set(second.origin, new Map(person.jars.get(first.origin)))
  t.equal(await connect(second.origin, person), true)
  const third = await start(t)
  person.jars.set(third.origin, new Map(person.jars.get(first.origin)))
  t.equal(await connect(third.origin, person), false, 'another replica with the secret knows the first one')
})

t.test('another person of the browser is asked, and gets nothing before', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  await connect(origin, person)
  const { url } = await beginFlow(origin, { clientId: CLIENT_ID, redirectUri: REDIRECT_URI })
  const skipped = await open(person, url)
  t.match(wayOf(skipped)?.pathname, '/auth')
  // The same browser, in which somebody else signs in at the provider.
  const bob = createPerson({ name: 'bob' })
  bob.jars.set(origin, person.jars.get(origin) ?? new Map())
  const page = await open(bob, await signInThere(bob, skipped, `${origin}/sign-in/callback`))
  t.equal(page.status, 200)
  t.match(page.text, 'You have signed in as somebody else than before')
  const allowed = await answer(bob, page, 'allow')
  const callback = await signInThere(bob, allowed, `${origin}/sign-in/callback`)
  t.ok((await bob.follow(callback, REDIRECT_URI)).url.searchParams.has('code'))
  t.equal(await connect(origin, bob), false, 'and is remembered then')
})

t.test('a cookie of other scopes or another secret counts for nothing', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  await connect(origin, person, { params: { scope: 'books:read' } })
  const jar = person.jars.get(origin) ?? new Map<string, string>()
  const [name = '', value = ''] = [...jar].find(([key]) => key.includes('sign-in-consent-')) ?? []
  t.ok(value)
  for (const forged of [`${value.slice(0, -2)}AA`, 'a', `${value}.${value}`]) {
    jar.set(name, forged)
    const { url } = await beginFlow(origin, {
      clientId: CLIENT_ID, redirectUri: REDIRECT_URI, params: { scope: 'books:read' }
    })
    t.match((await open(person, url)).text, '<h1>Allow ')
  }
  const other = await start(t, DOCUMENT, ['b'.repeat(32)])
  person.jars.set(other.origin, new Map([[name, value]]))
  t.equal(await connect(other.origin, person, { params: { scope: 'books:read' } }), true)
})

t.test('a person who ends a connection is asked again', async (t) => {
  const { origin } = await start(t)
  const person = createPerson()
  await connect(origin, person)
  const url = new URL(`${origin}/sign-in`)
  const passage = await person.visit(url, new URLSearchParams({ action: 'sign-in' }))
  const page = await open(person, await signInThere(person, passage, `${origin}/sign-in/callback`))
  t.match(page.text, '<bdi>Example</bdi><br><span class="faint">client.example</span>')
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(page.text) ?? []
  const [, end = ''] = /name="end" value="([^"]+)"/.exec(page.text) ?? []
  await person.visit(url, new URLSearchParams({ token, end }))
  t.equal(await connect(origin, person), true)
})
