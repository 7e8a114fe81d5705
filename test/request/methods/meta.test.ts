// What clients and handlers tell each other in `_meta`.

import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession } from '../../helpers/session.ts'

const FILES = {
  'tools/t.ts': `import { defineTool } from 'trivet'
    export default defineTool({
      name: 'meta', run: (_, ctx) => ({ meta: ctx.meta, isFrozen: Object.isFrozen(ctx.meta), isSame: ctx.meta === ctx.meta })
    })`,
  'prompts/p.ts': `import { definePrompt } from 'trivet'
    const messages = [{ role: 'user', content: { type: 'text', text: 'a' } }]
    export const good = definePrompt({
      name: 'good', render: (_, { meta }) => ({ messages, _meta: { 'example.com/sent': meta } })
    })
    export const bad = definePrompt({ name: 'bad', render: () => ({ messages, _meta: 'hunter2' }) })`,
  'resources/r.resource.ts': `import { defineResource } from 'trivet'
    const contents = [{ uri: 'test:a', text: 'a' }]
    export const good = defineResource({
      uri: 'test:good', name: 'good', read: ({ meta }) => ({ contents, _meta: { 'example.com/sent': meta } })
    })
    export const bad = defineResource({ uri: 'test:bad', name: 'bad', read: () => ({ contents, _meta: [] }) })`
}

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OWN = { traceparent: TRACE, 'example.com/team': { of: 'client' } }

t.test('a handler sees the _meta of its request, without the envelope', async (t) => {
  const app = await buildApp(t, FILES)
  const ask = async (meta: { readonly [key: string]: unknown }) => (await send(app, {
    method: 'tools/call', params: { name: 'meta' }, meta
  })).response.result.structuredContent
  const sent = { ...OWN, progressToken: 5, 'io.modelcontextprotocol/logLevel': 'error' }
  t.strictSame(await ask(sent), { meta: OWN, isFrozen: true, isSame: true })
  t.strictSame(await ask({}), { meta: {}, isFrozen: true, isSame: true })
})

t.test('the _meta of a prompt and of a read goes to the client (86)', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [method, params] of [
    ['prompts/get', { name: 'good' }], ['resources/read', { uri: 'test:good' }]
  ] as const) {
    const { _meta } = (await send(app, { method, params, meta: OWN })).response.result
    t.strictSame(_meta['example.com/sent'], OWN, method)
    t.type(_meta['io.modelcontextprotocol/serverInfo'], 'object')
  }
})

t.test('a _meta that is no object is an internal error, and the log does not quote it', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, FILES, { logger: log.logger })
  for (const [method, params] of [
    ['prompts/get', { name: 'bad' }], ['resources/read', { uri: 'test:bad' }]
  ] as const) {
    t.equal((await send(app, { method, params })).response.error.code, -32603)
  }
  const messages = log.lines.flatMap(({ err }) => err?.message ?? [])
  t.strictSame(messages, ['_meta must be an object', '_meta must be an object'])
})

t.test('a _meta that JSON would lose is an internal error, and the log says where it is', async (t) => {
  const log = createReadableLog()
  const lossy = "_meta: { 'example.com/seen': { at: new Map() } }"
  const text = `{ type: 'text', text: 'a', ${lossy} }`
  const embedded = `{ type: 'resource', resource: { uri: 'test:a', text: 'a', ${lossy} } }`
  const app = await buildApp(t, {
    'tools/t.ts': `import { defineTool, toolResult } from 'trivet'
      export const made = defineTool({ name: 'made', run: () => toolResult({ ${lossy} }) })
      export const plain = defineTool({ name: 'plain', run: () => ({ content: [], ${lossy} }) })
      export const none = defineTool({ name: 'none', run: () => ({ content: [], _meta: 'a' }) })
      export const block = defineTool({ name: 'block', run: () => ({ content: [${text}] }) })
      export const embeds = defineTool({ name: 'embeds', run: () => ({ content: [${embedded}] }) })`,
    'prompts/p.ts': `import { definePrompt } from 'trivet'
      const messages = [{ role: 'user', content: { type: 'text', text: 'a' } }]
      export const p = definePrompt({ name: 'p', render: () => ({ messages, ${lossy} }) })`,
    'resources/r.resource.ts': `import { defineResource } from 'trivet'
      const contents = [{ uri: 'test:a', text: 'a' }]
      export const r = defineResource({ uri: 'test:r', name: 'r', read: () => ({ contents, ${lossy} }) })
      export const one = defineResource({
        uri: 'test:one', name: 'one', read: () => ({ uri: 'test:one', text: 'a', ${lossy} })
      })`
  }, { logger: log.logger })
  const loss = '/example.com~1seen/at: a Map has no JSON form; return Object.fromEntries(map)'
  const expected: ReadonlyArray<readonly [string, { [name: string]: string }, string]> = [
    ['tools/call', { name: 'made' }, `tools/t.ts: _meta: ${loss}`],
    ['tools/call', { name: 'plain' }, `tools/t.ts: _meta: ${loss}`],
    ['tools/call', { name: 'none' }, 'tools/t.ts: _meta must be an object'],
    ['tools/call', { name: 'block' }, `tools/t.ts: content[0]._meta: ${loss}`],
    ['tools/call', { name: 'embeds' }, `tools/t.ts: content[0].resource._meta: ${loss}`],
    ['prompts/get', { name: 'p' }, `_meta: ${loss}`],
    ['resources/read', { uri: 'test:r' }, `_meta: ${loss}`],
    ['resources/read', { uri: 'test:one' }, `contents[0]._meta: ${loss}`]
  ]
  for (const [method, params] of expected) {
    t.equal((await send(app, { method, params })).response.error?.code, -32603, JSON.stringify(params))
  }
  const messages = log.lines.flatMap(({ err }) => err?.message ?? [])
  t.strictSame(messages, expected.map(([, , message]) => message))
})

for (const revision of LEGACY_REVISIONS) {
  t.test(`sessions of ${revision} send and get _meta too`, async (t) => {
    const session = await openSession(t, await listen(await buildApp(t, FILES)), { revision })
    const ask = async (method: string, params: object) =>
      (await session.request(method, { ...params, _meta: { ...OWN, progressToken: 1 } })).result
    t.match(JSON.parse((await ask('tools/call', { name: 'meta' })).content[0].text), { meta: OWN })
    for (const [method, params] of [
      ['prompts/get', { name: 'good' }], ['resources/read', { uri: 'test:good' }]
    ] as const) {
      t.strictSame((await ask(method, params))._meta, { 'example.com/sent': OWN }, method)
    }
  })
}
