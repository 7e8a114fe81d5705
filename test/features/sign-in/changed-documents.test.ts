// A client whose metadata document changes while a person signs in.

import t, { type Test } from 'tap'
import { hasOpenssl } from '../../helpers/certificates.ts'
import { createPerson } from '../../helpers/person.ts'
import { startDocumentServer } from './document-server.ts'
import { readMetadata, startSignInService, toAuthorization } from './sign-in-service.ts'

const REDIRECT_URI = 'https://client.example/back'

/** Lets the clocks of the process be later, so that documents are fetched again. */
function skipTime (t: Test): (ms: number) => void {
  const { now } = Date
  const monotonic = performance.now.bind(performance)
  let skippedMs = 0
  Date.now = () => now() + skippedMs
  performance.now = () => monotonic() + skippedMs
  t.teardown(() => {
    Date.now = now
    performance.now = monotonic
  })
  return (ms) => { skippedMs += ms }
}

async function open (t: Test) {
  const documents = await startDocumentServer(t)
  documents.takeInternet(t)
  const service = await startSignInService(t)
  const skip = skipTime(t)
  const id = `${documents.origin}/client.json`
  const describe = (members: object) => {
    documents.answers.set('/client.json', { client_id: id, redirect_uris: [REDIRECT_URI], ...members })
    skip(31_000)
  }
  describe({ client_name: 'First name' })
  const { url } = toAuthorization(
    await readMetadata(service.origin), { clientId: id, redirectUri: REDIRECT_URI }
  )
  return { ...service, documents, describe, url, person: createPerson() }
}

const tokenIn = (text: string) => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''

t.test('a consent counts for the document that the person has seen', async (t) => {
  if (!hasOpenssl(t)) return
  const { origin, url, person, describe, provider } = await open(t)
  const way = await person.follow(url, `${origin}/sign-in/consent`)
  const page = await person.visit(way.url)
  t.match(page.text, 'First name')
  describe({ client_name: 'Another name' })
  const form = new URLSearchParams({ answer: 'allow', token: tokenIn(page.text) })
  const again = await person.visit(way.url, form)
  t.match(again.text, 'Another name', 'the person is asked again')
  t.notMatch(again.text, provider.origin)
  form.set('token', tokenIn(again.text))
  t.match((await person.visit(way.url, form)).text, provider.origin, 'and may allow that')
})

t.test('a redirect URI that was withdrawn gets no code', async (t) => {
  if (!hasOpenssl(t)) return
  const { origin, url, person, describe } = await open(t)
  const back = await person.follow(url, `${origin}/sign-in/callback`)
  describe({ redirect_uris: ['https://client.example/other'] })
  const end = await person.follow(back.url, REDIRECT_URI)
  t.equal(end.status, 400)
  t.match(end.text, /redirect/)
  t.ok(end.url.href.startsWith(origin))
})

t.test('a document that cannot be read any more ends a sign-in with a page', async (t) => {
  if (!hasOpenssl(t)) return
  const { origin, url, person, describe, documents } = await open(t)
  const back = await person.follow(url, `${origin}/sign-in/callback`)
  describe({})
  documents.answers.delete('/client.json')
  const end = await person.follow(back.url, REDIRECT_URI)
  t.equal(end.status, 400)
  t.match(end.text, /pin a copy/)
  t.match(end.headers.get('content-type'), /^text\/html/)
})
