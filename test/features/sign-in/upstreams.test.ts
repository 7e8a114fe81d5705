// Tools that call an upstream as a person who has signed in here.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import { makeFolder } from '../../helpers/folder.ts'
import { post } from '../../helpers/stream.ts'
import { TaskClient } from '../tasks/task-client.ts'
import { keeping, later, textOf } from '../upstreams/later-calls.ts'
import { AS_CALLER, startCrm, WHO, type Crm } from '../upstreams/signed-in.ts'
import { crmModule } from '../upstreams/upstream-server.ts'
import { createAhead, CRM, postForm, refresh, signInAs, startGrantService } from './grants-setup.ts'

type Options = NonNullable<Parameters<typeof startGrantService>[1]>

async function startWithCrm (t: Test, definition: string, { files, ...options }: Options = {}) {
  let crm: Crm | undefined
  const service = await startGrantService(t, {
    ...options,
    async files (provider) {
      crm = await startCrm(t, provider)
      return { 'lib/crm.ts': crmModule(crm.url, definition), 'tools/who.ts': WHO, ...files }
    }
  })
  if (crm === undefined) throw new Error('unreachable')
  return { ...service, crm, url: `${service.origin}/mcp` }
}

async function callWho (t: Test, url: string, token: string): Promise<string> {
  const { response } = await post(t, url, {
    method: 'tools/call',
    params: { name: 'who', arguments: {} },
    headers: { authorization: `Bearer ${token}` }
  })
  return textOf(response) ?? ''
}

t.test('exchange: the upstream gets a token that the provider made of its own (267, 273)', async (t) => {
  const exchanged: string[] = []
  const tokens: string[] = []
  const { origin, url, crm, provider, log } = await startWithCrm(t, AS_CALLER, {
    provider: {
      exchange: {
        onExchange: (_, parameters) => exchanged.push(String(parameters.subject_token)),
        onToken: (token) => tokens.push(token)
      },
      onTokens: (issued) => tokens.push(...issued)
    }
  })
  const alice = await signInAs(origin)
  const bob = await signInAs(origin, 'bob')
  for (const [name, { accessToken }] of Object.entries({ alice, bob })) {
    for (let round = 0; round < 3; round++) t.equal(await callWho(t, url, accessToken), name)
  }
  t.equal(exchanged.length, 2, 'one exchange for each grant')
  for (const token of exchanged) t.ok(tokens.includes(token), 'a token of the provider')
  for (const { headers } of crm.seen) {
    const token = String(headers.authorization).replace('Bearer ', '')
    t.match(decodeJwt(token), { iss: provider.issuer, aud: CRM })
    t.notOk([...exchanged, alice.accessToken, bob.accessToken].includes(token), 'no token of a caller')
  }
  for (const token of tokens) t.notOk(log.text().includes(token))
})

t.test('exchange: a token of the provider that has expired is renewed once, for all who wait', async (t) => {
  const goAhead = createAhead(t)
  const { origin, url, provider } = await startWithCrm(t, AS_CALLER, {
    provider: { tokenTtlSeconds: 300, exchange: { rotates: true } }
  })
  const { clientId, accessToken, refreshToken } = await signInAs(origin)
  goAhead(400_000)
  const before = provider.requestsOf('/token')
  const names = await Promise.all(Array.from({ length: 8 }, async () => await callWho(t, url, accessToken)))
  t.strictSame(new Set(names), new Set(['alice']))
  t.equal(provider.requestsOf('/token') - before, 2, 'one renewal and one exchange')
  t.equal((await refresh(origin, clientId, refreshToken)).status, 200)
})

t.test('exchange: where the grant ends at the provider, or here, nobody is called', async (t) => {
  const goAhead = createAhead(t)
  const { origin, url, provider, crm } = await startWithCrm(t, AS_CALLER)
  const { clientId, accessToken } = await signInAs(origin)
  goAhead(700_000)
  provider.replaceAnswer('/token', (response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
  })
  t.match(await callWho(t, url, accessToken), /must sign in/)
  goAhead(2000)
  const { status } = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${accessToken}` } })
  t.equal(status, 401, 'the grant has ended')
  const form = { client_id: clientId, token: accessToken }
  t.equal((await postForm(origin, '/sign-in/revoke', form)).status, 200)
  t.equal(crm.seen.length, 0)
})

t.test('exchange: a task keeps a token of its person, sealed', async (t) => {
  const state = await makeFolder(t)
  const tokens: string[] = []
  const { origin, url } = await startWithCrm(t, keeping(true), {
    files: { 'tools/later.ts': later([1200]) },
    provider: {
      exchange: { hasRefreshTokens: true, onToken: (token) => tokens.push(token) },
      onTokens: (issued) => tokens.push(...issued)
    },
    options: { stateUrl: `file:${state}`, constants: { taskGraceMs: 50 } }
  })
  const { accessToken, refreshToken } = await signInAs(origin)
  const client = new TaskClient(async (parts) => await post(t, url, parts), { user: `Bearer ${accessToken}` })
  const { taskId } = await client.call('later')
  t.equal(textOf(await client.until(taskId, 'completed', 20_000)), 'alice alice')
  const files = (await readdir(state, { withFileTypes: true })).filter((file) => file.isFile())
  const bytes = Buffer.concat(
    await Promise.all(files.map(async ({ name }) => await readFile(join(state, name))))
  )
  t.ok(bytes.includes('grants-'))
  t.ok(tokens.length >= 5)
  for (const token of [...tokens, accessToken, refreshToken]) {
    for (const part of [token, token.split('.').at(-1) ?? '']) {
      t.notOk(bytes.includes(part), 'no token is in the bytes of the store')
    }
  }
})

t.test('claims: the upstream learns what the provider says of the person', async (t) => {
  const { origin, url, crm, provider } = await startWithCrm(t, `auth: {
    type: 'claims', headers: ({ iss, sub, client_id }) => ({ 'x-user': [iss, sub, client_id].join(' ') })
  }`)
  const { clientId, accessToken } = await signInAs(origin)
  await callWho(t, url, accessToken)
  t.match(crm.seen[0]?.headers, { 'x-user': `${provider.issuer} alice ${clientId}`, authorization: undefined })
})
