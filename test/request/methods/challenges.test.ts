// What callers get who see a definition and may not use it.

import t from 'tap'
import { authenticator, guardedFiles } from '../../catalog/compiled/guarded-catalog.ts'
import { moduleOf } from '../../catalog/compiled/scoped-catalog.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { send } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream } from '../../helpers/stream.ts'

type Params = { readonly [name: string]: unknown }

const CHALLENGED: ReadonlyArray<readonly [method: string, Params, requiredScopes: readonly string[]]> = [
  ['tools/call', { name: 'pay', arguments: {} }, ['b']],
  ['tools/call', { name: 'pay', arguments: { region: 'eu' } }, ['b']],
  ['prompts/get', { name: 'plan', arguments: { none: '' } }, ['b']],
  ['resources/read', { uri: 'pay://sli%70' }, ['b']],
  ['resources/read', { uri: 'pay://slip' }, ['b']],
  ['resources/read', { uri: 'bill://1' }, ['a']],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'plan' }, argument: { name: 'x', value: '' } }, ['b']
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'bill://{id}' }, argument: { name: 'id', value: '' } }, ['a']
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'bill://1' }, argument: { name: 'id', value: '' } }, ['a']
  ],
  [
    'subscriptions/listen',
    { notifications: { resourceSubscriptions: ['doc://open', 'pay://slip', 'bill://1'] } }, ['b', 'a']
  ]
]

t.test('a challenge names all scopes of the operation, before any other check (264, 268)', async (t) => {
  const app = await buildApp(t, guardedFiles(), { authenticator })
  for (const [method, params, requiredScopes] of CHALLENGED) {
    // The header does not mirror the argument, and the client lacks a capability.
    const headers = { authorization: 'c', 'mcp-param-region': 'wrong' }
    const { status, headers: received, response } = await send(app, { method, params, headers })
    const what = `${method} ${JSON.stringify(params)}`
    t.equal(status, 403, what)
    t.match(received['content-type'], /^application\/json/, what)
    t.match(response.error, { code: 403, data: { requiredScopes } }, what)
  }
})

t.test('callers with the scopes are served, also by a broader scope (269)', async (t) => {
  const app = await buildApp(t, guardedFiles(), { authenticator })
  for (const [method, params] of CHALLENGED.slice(4, -1)) {
    for (const authorization of ['a b', 'admin', 'staff b']) {
      const { status, response } = await send(app, { method, params, headers: { authorization } })
      t.equal(status, 200, `${method} ${JSON.stringify(params)} with ${authorization}`)
      t.notOk(response.error)
    }
  }
  const url = await listen(app)
  const [method, params] = CHALLENGED.at(-1) ?? []
  t.ok(method)
  const stream = await openStream(t, url, {
    method: 'subscriptions/listen', params: params ?? {}, headers: { authorization: 'admin' }
  })
  t.match(await stream.next(), { params })
})

t.test('sessions are challenged by the same rule', async (t) => {
  const url = await listen(await buildApp(t, guardedFiles(), { authenticator }))
  const client = await openSession(t, url, { headers: { authorization: 'c' } })
  for (const [method, params, requiredScopes] of CHALLENGED.slice(0, -1)) {
    t.match((await client.request(method, params)).error, { code: 403, data: { requiredScopes } }, method)
  }
  const refused = await client.request('resources/subscribe', { uri: 'pay://slip' })
  t.match(refused.error, { code: 403, data: { requiredScopes: ['b'] } })
  const other = await openSession(t, url, { headers: { authorization: 'b' } })
  t.strictSame((await other.request('resources/subscribe', { uri: 'pay://slip' })).result, {})
})

t.test('every caller sees a challenging definition, and its list is public (109, 189)', async (t) => {
  const app = await buildApp(t, {
    'tools/all.ts': moduleOf(
      "export default defineTool({ name: 'pay', scopes: ['a', 'b'], whenMissing: 'challenge', run () {} })"
    ),
    'prompts/plan.md': '---\nscopes: [a]\nwhenMissing: challenge\n---\nPlan it.',
    'resources/all.resource.ts': moduleOf(`export default defineResourceTemplate({
      uriTemplate: 'x://{id}', name: 'x', scopes: ['a'], whenMissing: 'challenge', read: () => '',
      list: () => [{ name: 'one', uri: 'x://1' }]
    })`)
  }, { authenticator })
  for (const authorization of ['', 'a', 'a b']) {
    for (const [method, member] of [
      ['tools/list', 'tools'], ['prompts/list', 'prompts'], ['resources/list', 'resources'],
      ['resources/templates/list', 'resourceTemplates']
    ] as const) {
      const { response } = await send(app, { method, headers: { authorization } })
      t.equal(response.result[member].length, 1, `${method} ${authorization}`)
      t.equal(response.result.cacheScope, 'public')
    }
  }
  const called = await send(app, {
    method: 'tools/call', params: { name: 'pay' }, headers: { authorization: 'b' }
  })
  t.match(called, { status: 403, response: { error: { data: { requiredScopes: ['a', 'b'] } } } })
  const { response } = await send(app, { method: 'tools/call', params: { name: 'pey' } })
  t.notMatch(response.error.message, /pay/, 'a name of three letters has too few pairs for a hint')
  const prompt = await send(app, { method: 'prompts/get', params: { name: 'plan' } })
  t.equal(prompt.status, 403)
})
