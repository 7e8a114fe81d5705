import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send, type RequestParts } from '../../helpers/request.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const CATALOG_VERSION = 'dev.trivet/catalogVersion'

const FILES: Files = {
  'server.yaml': `name: shop
title: The Shop
version: 1.2.3
description: Sells things.
websiteUrl: https://shop.example
icons:
  - src: https://shop.example/icon.png
    sizes: ['48x48']
instructions: Ask before you buy.
cache:
  listTtlMs: 9000
`,
  'tools/a.ts': toolModule('a'),
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n    complete: [y]\n---\nHello {{x}}.\n',
  'resources/a.md': '# a'
}

/** One request of every method that answers with a result. */
const REQUESTS: readonly RequestParts[] = [
  { method: 'server/discover' },
  { method: 'tools/list' },
  { method: 'tools/call', params: { name: 'a' } },
  { method: 'prompts/list' },
  { method: 'prompts/get', params: { name: 'p' } },
  { method: 'resources/list' },
  { method: 'resources/templates/list' },
  { method: 'resources/read', params: { uri: 'file:///a.md' } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: '' } }
  }
]

t.test('has the revisions, the capabilities, the server and the instructions (84, 85, 89)', async (t) => {
  const app = await buildApp(t, FILES)
  const { status, headers, response } = await send(app, { method: 'server/discover', id: 'd' })
  t.equal(status, 200)
  t.match(headers, { 'content-type': /^application\/json/ })
  t.match(response.result._meta[CATALOG_VERSION], /^[0-9a-f]{12}$/)
  t.strictSame(response, {
    jsonrpc: '2.0',
    id: 'd',
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} },
      instructions: 'Ask before you buy.',
      ttlMs: 9000,
      cacheScope: 'public',
      _meta: {
        [CATALOG_VERSION]: response.result._meta[CATALOG_VERSION],
        [SERVER_INFO]: {
          name: 'shop',
          version: '1.2.3',
          title: 'The Shop',
          description: 'Sells things.',
          websiteUrl: 'https://shop.example',
          icons: [{ src: 'https://shop.example/icon.png', sizes: ['48x48'] }]
        }
      }
    }
  })
  t.notOk('serverInfo' in response.result, 'who it is stands in _meta alone (87)')
  t.strictSame((await send(app, { method: 'server/discover', id: 'd' })).response, response)
})

t.test('without settings, the name is that of the folder (85)', async (t) => {
  const app = await buildApp(t, {})
  const { response: { result } } = await send(app, { method: 'server/discover' })
  t.match(result._meta[SERVER_INFO], { name: /^trivet-/, version: '0.0.0' })
  t.notOk('instructions' in result)
})

t.test('declares list changes only for a watched catalog (88, 105, 147)', async (t) => {
  const app = await buildApp(t, FILES, { watch: 'on' })
  t.strictSame((await send(app, { method: 'server/discover' })).response.result.capabilities, {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    completions: {},
    logging: {}
  })
})

t.test('serves every declared capability, and answers other methods with 404 (50, 88)', async (t) => {
  for (const files of [FILES, {}]) {
    const app = await buildApp(t, files)
    for (const request of REQUESTS) {
      const { response } = await send(app, request)
      t.not(response.error?.code, -32601, request.method)
    }
  }
  const app = await buildApp(t, FILES)
  for (const method of ['tasks/list', 'sampling/createMessage', 'tools', 'toString', '__proto__', '']) {
    const { status, response } = await send(app, { method })
    t.equal(status, 404)
    t.match(response, { id: 1, error: { code: -32601 } }, method)
  }
})

t.test('every result is marked complete and names the server (54, 55, 86)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [index, request] of REQUESTS.entries()) {
    const { status, response } = await send(app, { ...request, id: `id-${index}` })
    t.equal(status, 200)
    t.match(
      response,
      {
        jsonrpc: '2.0',
        id: `id-${index}`,
        result: { resultType: 'complete', _meta: { [SERVER_INFO]: { name: 'shop', version: '1.2.3' } } }
      },
      request.method
    )
  }
})

t.test('only cacheable results have cache hints (186)', async (t) => {
  const app = await buildApp(t, FILES)
  const cacheable = [
    'server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list',
    'resources/read'
  ]
  for (const request of REQUESTS) {
    const { response: { result } } = await send(app, request)
    t.equal(
      Number.isInteger(result.ttlMs) && result.ttlMs >= 0, cacheable.includes(request.method), request.method
    )
    t.equal(['public', 'private'].includes(result.cacheScope), cacheable.includes(request.method))
  }
})

t.test('answers under the id of the request, in its type (52, 54, 57)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const id of [0, -1, 9007199254740991, '', '1', 'é"\\', 'x'.repeat(1000)]) {
    t.strictSame((await send(app, { method: 'server/discover', id })).response.id, id)
    t.strictSame((await send(app, { method: 'tools/list', id })).response.id, id)
    t.strictSame((await send(app, { method: 'tools/call', params: { name: 'none' }, id })).response.id, id)
  }
})

t.test('unknown params are ignored, and known ones are checked', async (t) => {
  const app = await buildApp(t, FILES)
  t.equal((await send(app, { method: 'server/discover', params: { extra: 1 } })).status, 200)
  for (const params of [
    {}, { notifications: null }, { notifications: [] }, { notifications: { toolsListChanged: 'yes' } },
    { notifications: { resourceSubscriptions: [1] } }
  ]) {
    const { status, response } = await send(app, { method: 'subscriptions/listen', params })
    t.equal(status, 200)
    t.match(
      response, { id: 1, error: { code: -32602, message: /^Invalid params: notifications/ } },
      'a listen request says what it listens for (200)'
    )
  }
})

t.test('the version of the catalog is that of what every caller may see', async (t) => {
  const versionOf = async (files: Files) => {
    const app = await buildApp(t, { ...FILES, ...files })
    return (await send(app, { method: 'server/discover' })).response.result._meta[CATALOG_VERSION]
  }
  const version = await versionOf({})
  t.equal(await versionOf({ 'tools/b.ts': toolModule('b', "scopes: ['staff']") }), version)
  t.equal(await versionOf({ 'tools/a.ts': toolModule('a', '', "() => 'other code'") }), version)
  t.not(await versionOf({ 'tools/b.ts': toolModule('b') }), version)
  const challenging = toolModule('b', "scopes: ['x'], whenMissing: 'challenge'")
  t.not(await versionOf({ 'tools/b.ts': challenging }), version)
})
