// What a call does with its credential: it waits for it, renews it once, and says why there is none.

import t, { type Test } from 'tap'
import { defineSettings } from '../../../src/platform/author/define-settings.ts'
import { defineUpstream } from '../../../src/platform/author/define-upstream.ts'
import { compileUpstream } from '../../../src/features/upstreams/definition/compile-upstream.ts'
import {
  CredentialError, type Credential, type CredentialCaller, type CredentialFailure
} from '../../../src/features/upstreams/credentials/credential.ts'
import { openPool } from '../../../src/features/upstreams/pool.ts'
import { Upstream } from '../../../src/features/upstreams/upstream.ts'
import { ADA } from './open-upstream.ts'
import { startUpstream, type UpstreamServer } from './upstream-server.ts'

function open (t: Test, { url }: UpstreamServer, credential: Credential, timeoutMs = 10_000) {
  const limits = { timeoutMs }
  const definition = defineUpstream({ name: 'crm', url, auth: { type: 'none' }, allowPrivate: true, limits })
  const settings = { values: new Map(), secrets: new Map(), incomplete: new Set<object>() }
  const compiled = compileUpstream(definition, settings, (place, rule) => t.fail(`${place}: ${rule}`))
  if (compiled === undefined) throw new Error('not compiled')
  const lines: object[] = []
  const upstream = new Upstream(compiled, {
    transport: openPool(compiled, 5),
    credential,
    log: { debug () {}, warn: (fields) => { lines.push(fields) } },
    running: 50,
    onCall () {}
  })
  t.teardown(async () => await upstream.close())
  return { upstream, lines }
}

t.test('what auth takes from settings is a text once it is compiled', (t) => {
  const settings = defineSettings({
    ISSUER: { type: 'string' }, ID: { type: 'string' }, KEY: { type: 'string', secret: true }
  })
  const values = { ISSUER: 'https://id.example', ID: 'shop', KEY: 'canary' }
  const compiled = compileUpstream(defineUpstream({
    name: 'crm',
    url: 'https://crm.example',
    settings,
    auth: {
      type: 'service',
      issuer: ({ ISSUER }) => ISSUER,
      clientId: ({ ID }) => ID,
      clientSecret: ({ KEY }) => `${KEY}!`,
      scopes: ['crm:read']
    }
  }), {
    values: new Map([[settings, values]]), secrets: new Map([[settings, ['canary']]]), incomplete: new Set()
  }, (place, rule) => t.fail(`${place}: ${rule}`))
  t.strictSame(compiled?.auth, {
    type: 'service', issuer: 'https://id.example', clientId: 'shop', clientSecret: 'canary!', scopes: ['crm:read']
  })
  t.strictSame(compiled?.secrets, ['canary', 'canary!'], 'the log may have neither')
  t.end()
})

t.test('a refused credential is forgotten, and the call is sent once more', async (t) => {
  const seen: unknown[] = []
  const upstream = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { authorization = '' } = request.headers
    seen.push([request.method, authorization, body])
    response.writeHead(authorization === 'Bearer 2' ? 200 : 401).end('answer')
  })
  let number = 1
  const forgotten: unknown[] = []
  const credential: Credential = {
    headers: async () => await Promise.resolve({ authorization: `Bearer ${number}` }),
    forget ({ principal }) {
      forgotten.push(principal.subject)
      number++
      return true
    }
  }
  const { upstream: crm } = open(t, upstream, credential)
  t.equal((await crm.fetch(ADA, 'x', { method: 'POST', body: 'b' })).status, 200)
  t.strictSame(seen, [['POST', 'Bearer 1', 'b'], ['POST', 'Bearer 2', 'b']])
  const answer = await crm.fetch(ADA, 'x', {})
  t.equal(answer.status, 200)
  number = 5
  const refused = await crm.fetch(ADA, 'x')
  t.equal(refused.status, 401, 'only once more')
  t.equal(await refused.text(), 'answer')
  t.strictSame(seen.slice(3), [['GET', 'Bearer 5', ''], ['GET', 'Bearer 6', '']])
  t.strictSame(forgotten, ['ada', 'ada'])
})

t.test('a credential that is the same is not tried again', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.writeHead(401).end())
  for (const forget of [undefined, () => false]) {
    const before = upstream.requests
    const { upstream: crm } = open(t, upstream, { headers: () => ({}), ...forget && { forget } })
    t.equal((await crm.fetch(ADA, 'x')).status, 401)
    t.equal(upstream.requests - before, 1)
  }
})

t.test('a call without a credential says why, and no cause', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end())
  const messages: { readonly [F in CredentialFailure]: RegExp } = {
    caller: /must know which user calls\. The user must sign in, and call again\./,
    refused: /access was refused/,
    unavailable: /signing in there failed\. Try again later\./
  }
  for (const failure of ['caller', 'refused', 'unavailable'] as const) {
    for (const isLate of [false, true]) {
      const { upstream: crm, lines } = open(t, upstream, {
        headers () {
          const error = new CredentialError(failure, 'the cause')
          if (isLate) return Promise.reject(error)
          throw error
        }
      })
      const error: unknown = await crm.fetch(ADA, 'x').catch((reason: unknown) => reason)
      t.match(error, { code: 'credential', upstream: 'crm', message: messages[failure] })
      t.notMatch(String(error), 'the cause')
      const outcome = failure === 'unavailable' ? 'credential' : 'caller'
      t.match(lines, [{ outcome, err: { message: 'the cause', failure } }])
    }
  }
  t.equal(upstream.requests, 0)
})

t.test('a credential that does not come is a timeout, and its signal aborts', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end())
  let caller: CredentialCaller | undefined
  const { upstream: crm } = open(t, upstream, {
    headers: async (one) => {
      caller = one
      t.equal(one.signal.aborted, false)
      return await new Promise(() => {})
    }
  }, 300)
  await t.rejects(crm.fetch(ADA, 'x'), { code: 'timeout' })
  t.equal(caller?.signal.aborted, true)
  t.equal(crm.running, 0)
})
