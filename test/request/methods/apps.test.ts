// Apps on the wire: the capability, the list, the read, and what callers without a scope get.

import t from 'tap'
import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send } from '../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession } from '../../helpers/session.ts'

const URI = 'ui://shop/a'
const CAPABILITY = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

const FILES: Files = {
  'server.yaml': 'name: shop',
  'apps/a/index.html': '<!doctype html><html lang="en"><title>A</title></html>',
  'apps/a/app.yaml': 'prefersBorder: true',
  'tools/a.ts': toolModule('a', "ui: 'a'")
}

t.test('server/discover has the extension exactly where the catalog has screens (96)', async (t) => {
  const extensionsOf = async (files: Files) => {
    const { response } = await send(await buildApp(t, files), { method: 'server/discover' })
    return response.result.capabilities.extensions
  }
  t.strictSame(await extensionsOf(FILES), CAPABILITY)
  t.strictSame(await extensionsOf({ ...FILES, 'tools/b.ts': toolModule('b', "task: 'allowed'") }), {
    'io.modelcontextprotocol/tasks': {}, ...CAPABILITY
  })
  t.equal(await extensionsOf({ 'tools/a.ts': toolModule('a') }), undefined)
  t.strictSame(await extensionsOf({
    'resources/own.resource.ts': `import { defineResource } from 'trivet'
export default defineResource({
  uri: 'ui://own/screen', name: 'own', mimeType: 'text/html;profile=mcp-app', read: () => '<!doctype html>'
})`
  }), CAPABILITY, 'an author may define a screen by hand')
})

t.test('the contents have the type, and what the host must know', async (t) => {
  const app = await buildApp(t, FILES)
  const { response: { result } } = await send(app, { method: 'resources/read', params: { uri: URI } })
  t.strictSame(result.contents, [{
    uri: URI,
    mimeType: 'text/html;profile=mcp-app',
    text: FILES['apps/a/index.html'],
    _meta: { ui: { prefersBorder: true } }
  }])
  t.match(result, { ttlMs: 0, cacheScope: 'public' })
})

t.test('a call of a tool with a screen returns its text, which is all that other hosts need', async (t) => {
  const app = await buildApp(t, FILES)
  const { response } = await send(app, { method: 'tools/call', params: { name: 'a' } })
  t.strictSame(response.result.content, [{ type: 'text', text: 'ok' }])
})

for (const revision of LEGACY_REVISIONS) {
  t.test(`a session of ${revision} has what its revision can say (342, 344)`, async (t) => {
    const hasMeta = revision >= '2025-06-18'
    const task = { 'tools/b.ts': toolModule('b', "task: 'allowed'") }
    const session = await openSession(t, await listen(await buildApp(t, { ...FILES, ...task })), { revision })
    t.strictSame(session.initialized.capabilities.extensions, hasMeta ? CAPABILITY : undefined)
    const { result: { tools: [tool] } } = await session.request('tools/list')
    t.strictSame(tool._meta, hasMeta ? { ui: { resourceUri: URI }, 'ui/resourceUri': URI } : undefined)
    const { result: { resources } } = await session.request('resources/list')
    t.match(resources, [{ uri: URI, mimeType: 'text/html;profile=mcp-app' }])
    const { result: { contents: [content] } } = await session.request('resources/read', { uri: URI })
    t.equal(content.text, FILES['apps/a/index.html'])
    t.strictSame(content._meta, hasMeta ? { ui: { prefersBorder: true } } : undefined)
    const { result } = await session.request('tools/call', { name: 'a' })
    t.strictSame(result.content, [{ type: 'text', text: 'ok' }])
  })
}

/** Takes the token as a list of scopes. */
const byScopes: Authenticator = {
  authenticate: (authorization = '') => ({ subject: 's', scopes: new Set(authorization.split(' ')) })
}

t.test('an app with scopes does not exist for callers who lack them', async (t) => {
  const app = await buildApp(t, {
    ...FILES,
    'apps/a/app.yaml': 'scopes: [read]',
    'tools/a.ts': toolModule('a', "ui: 'a', scopes: ['read']")
  }, { authenticator: byScopes })
  const asked = async (authorization: string) => {
    const headers = { authorization }
    const list = await send(app, { method: 'resources/list', headers })
    const read = await send(app, { method: 'resources/read', params: { uri: URI }, headers })
    const { error, result } = read.response
    return [list.response.result.resources.length, error?.code, result?.cacheScope]
  }
  t.strictSame(await asked('other'), [0, -32602, undefined])
  t.strictSame(await asked('read'), [1, undefined, 'private'])
})
