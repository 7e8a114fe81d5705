// What the consent page says, and what it takes for a yes.

import t, { type Test } from 'tap'
import { toConsentPage } from '../../../src/edges/sign-in/consent-page.ts'
import type { Consent } from '../../../src/features/sign-in/flows/consents.ts'
import {
  answer, BACK, beginFlow, open, tokenOf, wayOf, type FlowOptions
} from '../../features/sign-in/browser-flow.ts'
import { startSignInService } from '../../features/sign-in/sign-in-service.ts'
import { createPerson } from '../../helpers/person.ts'

async function ask (t: Test, options: FlowOptions = {}) {
  const { origin, provider } = await startSignInService(t)
  const person = createPerson()
  const flow = await beginFlow(origin, options)
  return { origin, provider, person, flow, page: await open(person, flow.url) }
}

t.test('the person is asked before the provider is, and is told who asks (275)', async (t) => {
  const { page, provider } = await ask(t, { clientName: 'Claude <b>' })
  t.equal(page.status, 200)
  t.match(page.text, /<h1>Allow <bdi>Claude &lt;b&gt;<\/bdi> to use [^<]+ as you\?<\/h1>/)
  t.match(page.text, 'Nobody: it has registered itself, and its name is not checked')
  t.match(page.text, 'A program on this computer: <strong>127.0.0.1</strong>')
  t.match(page.text, 'Allow it only if you have just begun this yourself')
  t.equal(provider.requestsOf('/auth'), 0)
})

const CONSENT: Consent = {
  clientId: 'https://claude.ai/oauth/client.json',
  clientName: 'Claude',
  clientHost: 'claude.ai',
  version: '1',
  redirectUri: 'https://claude.ai/api/callback',
  scopes: []
}

function show (consent: Partial<Consent>, why?: string): string {
  const descriptions: Readonly<Record<string, string>> = { 'books:read': 'Read your books' }
  return toConsentPage(
    { title: 'Books', describeScope: (name) => descriptions[name], connectionsUrl: 'https://books.example/sign-in' },
    { consent: { ...CONSENT, ...consent }, token: 'token', ...(why !== undefined && { why }) }
  )
}

t.test('a client with a document is known by the host of the document', (t) => {
  const page = show({})
  t.match(page, '<strong>claude.ai</strong>, at <code>https://claude.ai/oauth/client.json</code>')
  t.match(page, '<tr><th scope="row">You go back to</th><td><strong>claude.ai</strong></td></tr>')
  t.notMatch(page, 'begun this yourself')
  t.match(page, 'Use what Books offers to everybody who signs in')
  t.end()
})

t.test('a client without a name is shown as one', (t) => {
  t.match(show({ clientName: undefined }), '<h1>Allow <bdi>claude.ai</bdi> to use Books as you?</h1>')
  const page = show({ clientName: undefined, clientHost: undefined })
  t.match(page, '<h1>Allow <bdi>An assistant without a name</bdi> to use Books as you?</h1>')
  t.end()
})

t.test('scopes are told in the words of the catalog', (t) => {
  const page = show({ scopes: ['books:read', 'books:write'] })
  t.match(page, '<ul><li>Read your books</li><li>books:write</li></ul>')
  t.end()
})

t.test('the words are those of server.yaml', async (t) => {
  const { origin } = await startSignInService(t, {}, {
    'server.yaml': 'title: Books\nscopes: [{ name: "books:read", description: Read your books }]',
    'sign-in.yaml': 'scopes: { "books:read": everyone }'
  })
  const { url } = await beginFlow(origin, { params: { scope: 'books:read strange' } })
  const page = await open(createPerson(), url)
  t.match(page.text, '</bdi> to use Books as you?</h1>')
  t.match(page.text, '<ul><li>Read your books</li></ul>')
})

t.test('links and addresses have the path of the service', async (t) => {
  const { app } = await startSignInService(t, { publicUrl: 'https://books.example/team/mcp' })
  const { body } = await app.inject('/team/sign-in')
  t.match(body, 'Your connections to')
  const { body: passage } = await app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { origin: 'https://books.example', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'action=sign-in'
  })
  const [, way = ''] = /0;url=([^"]+)"/.exec(passage) ?? []
  t.match(decodeURIComponent(way), 'redirect_uri=https://books.example/team/sign-in/callback')
})

t.test('hosts and names that look like others are shown as they are', (t) => {
  // The first letter of both is Cyrillic.
  const page = show({
    clientId: 'https://сlaude.ai/a.json',
    clientHost: new URL('https://сlaude.ai').host,
    clientName: 'Сlaude',
    redirectUri: 'https://сlaude.ai/back'
  })
  t.match(page, '<strong>xn--laude-0ye.ai</strong>, at <code>https://xn--laude-0ye.ai/a.json</code>')
  t.match(page, '<td><strong>xn--laude-0ye.ai</strong></td>')
  t.match(page, 'letters that may look like others: <bdi>С (U+0421)</bdi>')
  t.match(show({ redirectUri: 'https://claude.ai@evil.example/' }), '<td><strong>evil.example</strong></td>')
  t.match(show({ redirectUri: 'https://claude.ai.evil.example\\@x/' }), '<strong>claude.ai.evil.example</strong>')
  t.end()
})

t.test('programs of the device are told from sites', (t) => {
  const places = {
    'http://localhost:3333/callback': 'A program on this computer: <strong>localhost:3333</strong>',
    'http://[::1]:1/': 'A program on this computer: <strong>[::1]:1</strong>',
    'https://a.localhost/': 'A program on this computer: <strong>a.localhost</strong>',
    'cursor://anysphere.cursor-retrieval/oauth': 'An app on this device: <strong>cursor:</strong>',
    'com.example.app:/callback': 'An app on this device: <strong>com.example.app:</strong>'
  }
  for (const [redirectUri, text] of Object.entries(places)) {
    const page = show({ redirectUri })
    t.match(page, text)
    t.match(page, 'Every program here can use that address and that name.')
  }
  t.end()
})

t.test('a yes counts only with the token of the page of the same flow', async (t) => {
  const { origin, person, page } = await ask(t)
  const other = await open(person, (await beginFlow(origin)).url)
  const tokens = { none: '', another: tokenOf(other), changed: `${tokenOf(page).slice(0, -1)}_` }
  for (const [name, token] of Object.entries(tokens)) {
    const answered = await person.visit(page.url, new URLSearchParams({ answer: 'allow', token }))
    t.equal(answered.status, 409, name)
    t.match(answered.text, 'Something on this page has changed')
    t.equal(wayOf(answered), undefined)
  }
  const allowed = await answer(person, page, 'allow')
  t.equal(allowed.status, 200)
  t.match(wayOf(allowed)?.pathname, '/auth')
})

t.test('a person who cancels goes back to the client, which learns of it', async (t) => {
  const { origin, person, page } = await ask(t)
  const cancelled = await answer(person, page, 'cancel')
  const back = await person.follow(wayOf(cancelled) ?? new URL(origin), BACK)
  t.match(Object.fromEntries(back.url.searchParams), {
    error: 'access_denied', state: 'the state of the client', iss: origin
  })
})

t.test('a flow that has ended says what to do', async (t) => {
  const { origin, person, page } = await ask(t)
  const stranger = await createPerson().visit(page.url)
  t.equal(stranger.status, 400, 'in another browser')
  const allowed = await answer(person, page, 'allow')
  const back = await person.follow(wayOf(allowed) ?? new URL(origin), BACK)
  t.ok(back.url.searchParams.has('code'))
  for (const form of [undefined, new URLSearchParams({ answer: 'allow', token: tokenOf(page) })]) {
    const again = await person.visit(page.url, form)
    t.equal(again.status, 400, 'the back button')
    t.match(again.text, '<h1>This sign-in has ended</h1>')
    t.match(again.text, 'connect again')
  }
})

t.test('two flows of one browser do not touch each other', async (t) => {
  const { origin, person, page } = await ask(t)
  const second = await open(person, (await beginFlow(origin, { clientName: 'Second' })).url)
  const allowed = await Promise.all([answer(person, page, 'allow'), answer(person, second, 'allow')])
  for (const step of allowed.toReversed()) {
    const back = await person.follow(wayOf(step) ?? new URL(origin), BACK)
    t.ok(back.url.searchParams.has('code'))
  }
})
