// The way of a client that knows only the URL of the endpoint: what each answer tells it to do next.

import t, { type Test } from 'tap'
import { createPerson, type Person } from '../../helpers/person.ts'
import { readChallenge } from '../../helpers/request.ts'
import { post } from '../../helpers/stream.ts'
import { askForToken, HELLO, signIn, startSignInService } from './sign-in-service.ts'

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'

const FILES = {
  ...HELLO,
  'sign-in.yaml': 'scopes: { books:read: everyone, books:write: everyone, books:buy: everyone }',
  'tools/lend.mjs': `import { defineTool } from 'trivet'
export default defineTool({
  name: 'lend',
  description: 'Lends a book',
  inputSchema: { type: 'object' },
  scopes: ['books:write', 'books:buy'],
  whenMissing: 'challenge',
  run: (_, { principal }) => [...principal.scopes].sort().join(' ')
})`
}

async function open (t: Test) {
  const service = await startSignInService(t, { authScopes: ['books:read'] }, FILES)
  const call = async (name: string, token?: unknown) => await post(t, service.endpoint, {
    method: 'tools/call',
    params: { name, arguments: {} },
    ...(token !== undefined && { headers: { authorization: `Bearer ${String(token)}` } })
  })
  const enter = async (scope: string, person: Person) => await signIn(service.origin, { scope, person })
  return { ...service, call, enter }
}

t.test('without a valid token the answer names a place and scopes (258, 263, 264)', async (t) => {
  const { origin, call, enter } = await open(t)
  const { body: { access_token: token } } = await enter('books:read', createPerson())
  const expected = { scope: 'books:read', resource_metadata: `${origin}${RESOURCE_METADATA}/mcp` }
  for (const bad of [undefined, 'x', `${String(token)}x`]) {
    const error = bad === undefined ? undefined : 'invalid_token'
    const { status, headers } = await call('hello', bad)
    t.equal(status, 401)
    t.match(headers['www-authenticate'], /^Bearer /)
    t.match(readChallenge(headers['www-authenticate']), { ...expected, error })
  }
})

t.test('both places have the metadata, which names this service alone (257, 258, 259, 271)', async (t) => {
  const { origin, endpoint } = await open(t)
  for (const path of [RESOURCE_METADATA, `${RESOURCE_METADATA}/mcp`]) {
    const response = await fetch(`${origin}${path}`)
    t.equal(response.status, 200, path)
    const metadata = await response.json() as Record<string, unknown>
    t.match(metadata, { bearer_methods_supported: ['header'] })
    t.equal(metadata.resource, endpoint)
    t.strictSame(metadata.authorization_servers, [origin])
    t.notMatch(JSON.stringify(metadata), 'offline_access')
  }
})

t.test('one challenge names all scopes of a call, which a sign-in can then give (264, 268)', async (t) => {
  const { origin, call, enter } = await open(t)
  const person = createPerson()
  const { metadata, clientId, body } = await enter('books:read', person)
  const refused = await call('lend', body.access_token)
  t.equal(refused.status, 403)
  const challenge = readChallenge(refused.headers['www-authenticate'])
  t.match(challenge, {
    error: 'insufficient_scope',
    error_description: /./,
    resource_metadata: `${origin}${RESOURCE_METADATA}/mcp`
  })
  t.strictSame(challenge.scope?.split(' ').sort(), ['books:buy', 'books:read', 'books:write'])
  const refreshed = await askForToken(metadata, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: String(body.refresh_token),
    scope: 'books:read books:write'
  })
  t.equal(refreshed.body.scope, 'books:read', 'a refresh gives no more than the person has allowed')
  const more = await enter(challenge.scope ?? '', person)
  const { response } = await call('lend', more.body.access_token)
  t.match(response.result.content, [{ text: 'books:buy books:read books:write' }])
})
