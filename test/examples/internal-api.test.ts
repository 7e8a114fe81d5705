// The example of an internal API: its own tests, and the service with an issuer and a CRM.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { CLIENT } from '../features/upstreams/tokens/exchange-setup.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'
import type { AuthorizationServer } from '../servers/authorization-server.ts'
import { TaskClient } from '../features/tasks/task-client.ts'
import { RESOURCE, signFor, startIssuer } from '../features/upstreams/signed-in.ts'
import { startUpstream } from '../features/upstreams/upstream-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/internal-api', import.meta.url))

t.test('its own tests pass', async (t) => {
  const env = { PATH: process.env.PATH }
  const ran = promisify(execFile)(
    process.execPath, ['--test', '--test-reporter=tap'], { cwd: EXAMPLE, env, timeout: 60_000 }
  )
  const { stdout, stderr } = await ran.catch((error: { stdout: string, stderr: string }) => error)
  t.match(stdout, /^# pass [1-9]/m)
  t.match(stdout, /^# fail 0$/m, stdout + stderr)
})

/** The customers of each user. */
const CUSTOMERS: { readonly [user: string]: readonly string[] } = { alice: ['7', '8'], bob: ['8'] }

/** A CRM as README.md describes it. */
async function startCrm (t: Test, { issuer, origin }: AuthorizationServer) {
  const keys = createRemoteJWKSet(new URL(`${origin}/jwks`))
  // Times in tokens are whole seconds: a short one may expire on its way.
  const rules = { issuer, audience: 'crm', clockTolerance: 30 }
  const begun = new Map<string, string>()
  let looks = 0
  const upstream = await startUpstream(t, async ({ method, url = '', headers }, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    try {
      const token = headers.authorization?.replace('Bearer ', '') ?? ''
      const { payload: { sub = '', scope } } = await jwtVerify(token, keys, rules)
      const [, kind, id = ''] = url.replace('/api', '').split('/')
      const own = CUSTOMERS[sub] ?? []
      if (kind === 'customers' && !['7', '8'].includes(id)) return answer(404, {})
      if (kind === 'customers' && !own.includes(id)) return answer(403, {})
      if (kind === 'customers') return answer(200, { id, name: `Customer ${id}`, city: 'London', secret: 'x' })
      if (!String(scope).includes('crm:export')) return answer(403, {})
      if (method === 'POST') begun.set(String(headers['idempotency-key']), sub)
      if (method === 'POST') return answer(200, { id: 'e1' })
      const isReady = ++looks > 1
      answer(200, { id, ...isReady ? { link: `https://files.example.com/${sub}` } : { seconds: 2 } })
    } catch {
      answer(401, {})
    }
  })
  return { url: upstream.url, begun }
}

t.test('it is served to two users, and an export goes on as its user', async (t) => {
  const exchange = { targets: ['crm'], ttlSeconds: 2, hasRefreshTokens: true }
  const issuer = await startIssuer(t, exchange, { scopes: ['books:read', 'crm:read', 'crm:export'] })
  const crm = await startCrm(t, issuer)
  const { url } = await startService(t, {
    TRIVET_CATALOG: join(EXAMPLE, 'catalog'),
    TRIVET_WATCH: 'off',
    CRM_URL: crm.url,
    TRIVET_AUTH: 'jwt',
    TRIVET_AUTH_ISSUERS: issuer.issuer,
    TRIVET_AUTH_CLIENT_ID: CLIENT.clientId,
    TRIVET_AUTH_CLIENT_SECRET: CLIENT.secret,
    TRIVET_PUBLIC_URL: RESOURCE
  })
  const clientOf = async (user: string) => {
    const token = await signFor(issuer, user)
    return new TaskClient(async (parts) => await post(t, url, parts), { user: `Bearer ${token}` })
  }
  const [alice, bob] = [await clientOf('alice'), await clientOf('bob')]
  t.match(await alice.call('get_customer', { id: '7' }), {
    structuredContent: { id: '7', name: 'Customer 7', city: 'London' }
  })
  t.match(await bob.call('get_customer', { id: '7' }), {
    isError: true, content: [{ text: 'This user may not see customer 7.' }]
  })
  t.match(await bob.call('get_customer', { id: '9' }), { content: [{ text: 'There is no customer 9.' }] })
  t.match(await bob.ask('prompts/get', { name: 'prepare_visit', arguments: { id: '8' } }), {
    messages: [{ content: { text: /Customer 8/ } }]
  })
  const { taskId } = await alice.call('export_customers', { city: 'London' })
  const { result } = await alice.until(taskId, 'completed', 20_000)
  t.equal(result.content[0].text, 'The customers in London are at https://files.example.com/alice.')
  t.strictSame([...crm.begun.values()], ['alice'])
})
