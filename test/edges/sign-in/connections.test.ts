// The page where a person sees what is connected, and ends it.

import t, { type Test } from 'tap'
import { open, signInThere, tokenOf } from '../../features/sign-in/browser-flow.ts'
import {
  askForToken, callHello, readMetadata, signIn, startSignInService
} from '../../features/sign-in/sign-in-service.ts'
import { createPerson, type Person, type Visit } from '../../helpers/person.ts'

async function signInAtPage (origin: string, person: Person): Promise<Visit> {
  const passage = await person.visit(new URL(`${origin}/sign-in`), new URLSearchParams({ action: 'sign-in' }))
  return await open(person, await signInThere(person, passage, `${origin}/sign-in/callback`))
}

const idsOf = ({ text }: Visit) => [...text.matchAll(/name="end" value="([^"]+)"/g)].map(([, id = '']) => id)

async function connect (t: Test) {
  const service = await startSignInService(t)
  const [alice, bob] = [createPerson(), createPerson({ name: 'bob' })]
  const tokens = [
    await signIn(service.origin, { person: alice }), await signIn(service.origin, { person: alice }),
    await signIn(service.origin, { person: bob })
  ]
  return { ...service, alice, bob, tokens, url: new URL(`${service.origin}/sign-in`) }
}

t.test('a person sees the own connections, and ends one or all', async (t) => {
  const { origin, endpoint, alice, bob, tokens: [first, second, third], url } = await connect(t)
  const stranger = await alice.visit(url)
  t.match(stranger.text, 'Sign in to see which assistants may use')
  t.strictSame(idsOf(stranger), [], 'a sign-in for a client is none here')

  const page = await signInAtPage(origin, alice)
  t.equal(page.url.pathname, '/sign-in')
  t.match(page.text, 'You are signed in as <bdi>alice</bdi>')
  t.match(page.text, /<bdi>Test client<\/bdi><br><span class="faint">registered itself<\/span>/)
  t.match(page.text, /<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\dZ">/)
  t.equal(idsOf(page).length, 2)

  const bobs = await signInAtPage(origin, bob)
  const [bobsId = ''] = idsOf(bobs)
  await alice.visit(url, new URLSearchParams({ token: tokenOf(page), end: bobsId }))
  t.equal(idsOf(await bob.visit(url)).length, 1, 'nobody ends what is another\'s')

  const [recent = ''] = idsOf(page)
  const ended = await open(alice, url, new URLSearchParams({ token: tokenOf(page), end: recent }))
  t.equal(idsOf(ended).length, 1)
  await new Promise((resolve) => setTimeout(resolve, 2100))
  const statuses = await Promise.all(
    [first, second, third].map(async (token) => (await callHello(endpoint, token?.body.access_token)).status)
  )
  t.strictSame(statuses, [200, 401, 200])
  const { status } = await askForToken(await readMetadata(origin), {
    grant_type: 'refresh_token',
    client_id: second?.clientId ?? '',
    refresh_token: String(second?.body.refresh_token)
  })
  t.equal(status, 400)

  const none = await open(alice, url, new URLSearchParams({ token: tokenOf(page), action: 'end-all' }))
  t.match(none.text, 'No assistant is connected.')
  t.equal(idsOf(await bob.visit(url)).length, 1)
})

t.test('a form counts only with the token of the page', async (t) => {
  const { origin, alice, bob, url } = await connect(t)
  const page = await signInAtPage(origin, alice)
  const bobs = await signInAtPage(origin, bob)
  for (const token of ['', tokenOf(bobs), `${tokenOf(page)}A`]) {
    const answered = await open(alice, url, new URLSearchParams({ token, action: 'end-all' }))
    t.equal(idsOf(answered).length, 2)
  }
})

t.test('the sign-in of the page ends, and is none of the protocol (274)', async (t) => {
  const { origin, endpoint, alice, url } = await connect(t)
  const page = await signInAtPage(origin, alice)
  const cookies = [...alice.jars.get(origin) ?? []].map(([key, value]) => [key.split(' ')[1], value] as const)
  const [, value = ''] = cookies.find(([name]) => name === 'sign-in-page') ?? []
  t.ok(value)
  t.equal((await callHello(endpoint, value)).status, 401, 'as a token')
  const response = await fetch(endpoint, {
    method: 'POST', headers: { cookie: `sign-in-page=${value}`, 'content-type': 'application/json' }, body: '{}'
  })
  t.equal(response.status, 401, 'as a cookie')

  const signedOut = await open(alice, url, new URLSearchParams({ token: tokenOf(page), action: 'sign-out' }))
  t.match(signedOut.text, 'Sign in to see')
})

t.test('a callback of the page in another browser ends here, and does not go in circles', async (t) => {
  const { origin, alice, url } = await connect(t)
  const passage = await alice.visit(url, new URLSearchParams({ action: 'sign-in' }))
  const callback = await signInThere(alice, passage, `${origin}/sign-in/callback`)
  const landed = await open(createPerson(), callback)
  t.equal(landed.status, 400)
})
