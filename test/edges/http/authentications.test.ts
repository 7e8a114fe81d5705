// Requests that wait for authentication.

import t from 'tap'
import { AuthenticationError, type Authenticator } from '../../../src/platform/access/authentication.ts'
import type { Principal } from '../../../src/platform/access/principal.ts'
import { buildApp } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { toPost } from '../../helpers/request.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'

t.test('one address has a tenth of the requests that wait, and gets its part back', async (t) => {
  interface Waiting { resolve (principal: Principal): void, reject (error: Error): void }
  const waiting: Waiting[] = []
  const authenticator: Authenticator = {
    authenticate (header, sender) {
      if (header === 'known') return { subject: 'ada', scopes: new Set() }
      sender?.checkRoom()
      return new Promise((resolve, reject) => { waiting.push({ resolve, reject }) })
    }
  }
  const app = await buildApp(t, {}, { authenticator })
  const ask = async (remoteAddress: string, authorization = 'new') => {
    const { headers, body } = toPost({ method: 'tools/list', headers: { authorization } })
    return await app.inject({ method: 'POST', url: '/mcp', remoteAddress, headers, body })
  }
  const first = Array.from({ length: 200 }, async () => await ask('203.0.113.7'))
  await until(() => waiting.length === 200, 'the requests')
  const refused = await ask('203.0.113.7')
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '5')
  t.match(refused.json().error.message, /^Too many requests that wait for authentication of your address/)
  t.equal((await ask('203.0.113.7', 'known')).statusCode, 200, 'which need not wait')
  t.equal(waiting.length, 200)
  const other = ask('203.0.113.8')
  await until(() => waiting.length === 201, 'the request of another address')
  for (const [index, { resolve, reject }] of waiting.entries()) {
    if (index % 2 === 0) resolve({ subject: 'bob', scopes: new Set() })
    else reject(new AuthenticationError('invalid_token', 'no'))
  }
  t.strictSame(new Set((await Promise.all(first)).map(({ statusCode }) => statusCode)), new Set([200, 401]))
  t.equal((await other).statusCode, 200)
  const again = ask('203.0.113.7')
  await until(() => waiting.length === 202, 'the next request')
  waiting.at(-1)?.resolve({ subject: 'bob', scopes: new Set() })
  t.equal((await again).statusCode, 200)
})

t.test('one network that sends tokens at random is refused with 429, and the others are not', async (t) => {
  const server = await startAuthorizationServer(t, { format: 'opaque' })
  const app = await buildApp(t, {}, {
    auth: ['introspection'],
    publicUrl: 'https://books.example/mcp',
    authIssuers: [server.issuer],
    authClientId: 'books',
    authClientSecret: 'books-secret'
  })
  const { access_token: token } = await server.clientCredentials()
  const ask = async (remoteAddress: string, token: string) => {
    const { headers, body } = toPost({ method: 'tools/list', headers: { authorization: `Bearer ${token}` } })
    return await app.inject({ method: 'POST', url: '/mcp', remoteAddress, headers, body })
  }
  t.equal((await ask('203.0.113.7', token)).statusCode, 200)
  for (let i = 0; i < 300; i++) t.equal((await ask('203.0.113.7', `random-${i}`)).statusCode, 401)
  const refused = await ask('203.0.113.7', 'random')
  t.equal(refused.statusCode, 429)
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.match(refused.json().error, { code: 429, message: /300 access tokens of your address were refused/ })
  t.equal((await ask('203.0.113.7', token)).statusCode, 200, 'a token that is cached')
  t.equal((await ask('203.0.113.8', 'random')).statusCode, 401)
})
