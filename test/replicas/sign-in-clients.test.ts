// The official clients of both generations sign people in at three replicas. Each request goes to the next
// replica.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { open, signInThere, tokenOf } from '../features/sign-in/browser-flow.ts'
import { callHello, signIn } from '../features/sign-in/sign-in-service.ts'
import type { Person } from '../helpers/person.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import { createSignInClient } from './sign-in-client.ts'
import { SECRET, startSignInReplicas } from './sign-in-replicas.ts'

/** All replicas know of a sign-out after this time. */
const SIGN_OUT_MS = 2100
const NEW_SECRET = 'the second secret of the replicas of one test'

/** The person signs in at the page of connections, and ends them all. */
async function signOut (t: Test, origin: string, person: Person): Promise<void> {
  const url = new URL(`${origin}/sign-in`)
  const passage = await person.visit(url, new URLSearchParams({ action: 'sign-in' }))
  const page = await open(person, await signInThere(person, passage, `${origin}/sign-in/callback`))
  t.match(page.text, 'Official client')
  const ended = await open(person, url, new URLSearchParams({ token: tokenOf(page), action: 'end-all' }))
  t.match(ended.text, 'No assistant is connected.')
}

for (const generation of ['SDK 1', 'SDK 2'] as const) {
  t.test(`${generation} signs a person in, calls, refreshes, steps up and is signed out`, async (t) => {
    if (!hasRedisServer(t)) return
    const { origin, endpoint, provider, forwarded } = await startSignInReplicas(t)
    const client = createSignInClient(t, endpoint, generation)
    const subject = `${provider.issuer}|alice`
    const statusesOf = (path: string) => (
      forwarded.filter((request) => request.path === path).map(({ status }) => status)
    )
    t.strictSame(await client.call('hello'), { subject, scopes: ['books:read'] })
    t.strictSame(statusesOf('/sign-in/register'), [201])

    client.expire()
    const expired = client.accessToken()
    t.match(await client.call('hello'), { subject })
    t.not(client.accessToken(), expired)
    t.strictSame(statusesOf('/sign-in/token'), [200, 200], 'a code, and a refresh')
    t.equal(client.visits(), 1)

    if (generation === 'SDK 1') {
      await t.rejects(client.call('write_book'), /403/, 'it refreshes for a scope that it lacks, and gives up')
      await client.dropRefreshToken()
    }
    const { scopes } = await client.call('write_book')
    t.strictSame(scopes.toSorted(), ['books:read', 'books:write'])
    t.equal(client.visits(), 2, 'the person has allowed more')

    await signOut(t, origin, client.person)
    await pause(SIGN_OUT_MS)
    t.match(await client.call('hello'), { subject })
    t.equal(client.visits(), 3, 'the person must sign in once more')
    t.ok(statusesOf('/sign-in/token').includes(400), 'the refresh token has ended too')
    t.strictSame(statusesOf('/sign-in/register'), [201], 'and the client is still registered')
    t.ok(forwarded.every(({ status = 0 }) => status < 500))
  })
}

t.test('secrets are replaced between the steps of a sign-in', async (t) => {
  if (!hasRedisServer(t)) return
  const { origin, endpoint, forwarded, restart } = await startSignInReplicas(t, {
    secrets: [SECRET, `${SECRET},${NEW_SECRET}`, `${NEW_SECRET},${SECRET}`],
    choose: (path) => path.startsWith('/sign-in/callback') || path.startsWith('/sign-in/authorize/')
      ? 2
      : path.startsWith('/sign-in/authorize') || path.startsWith('/sign-in/consent') ? 1 : 0
  })
  const { status, body } = await signIn(origin, {
    scope: 'books:read', beforeToken: async () => await restart(0, `${NEW_SECRET},${SECRET}`)
  })
  t.equal(status, 200, JSON.stringify(body))
  t.strictSame([...new Set(forwarded.map(({ path, replica }) => `${replica} ${path.split('/')[2]}`))], [
    '0 oauth-authorization-server', '0 register', '1 authorize', '1 consent', '2 callback', '2 authorize',
    '0 token'
  ])
  t.equal((await callHello(endpoint, body.access_token)).status, 200)
})
