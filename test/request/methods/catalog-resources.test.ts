// Handlers that read, embed and link resources of their own catalog.

import t from 'tap'
import { authenticator } from '../../catalog/compiled/scoped-catalog.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'

const CALLS = ['readResource', 'embedResource', 'linkResource']

const FILES = {
  'tools/t.ts': `import { defineTool } from 'trivet'
    const inputSchema = {
      type: 'object', properties: { call: { type: 'string' }, uri: { type: 'string' } }, required: ['call', 'uri']
    }
    export const get = defineTool({ name: 'get', inputSchema, run: async ({ call, uri }, ctx) => ({ got: await ctx[call](uri) }) })
    export const send = defineTool({ name: 'send', inputSchema, run: async ({ call, uri }, ctx) => ({ content: [await ctx[call](uri)] }) })`,
  'prompts/p.ts': `import { definePrompt } from 'trivet'
    export default definePrompt({
      name: 'p', arguments: [{ name: 'uri', required: true }],
      render: async ({ uri }, ctx) => [{ role: 'user', content: await ctx.embedResource(uri) }]
    })`,
  'resources/r.resource.ts': `import { defineHandle, defineResource, defineResourceTemplate, ToolError } from 'trivet'
    export const things = defineHandle({ kind: 'thing', prefix: 'thg', idleTtlMs: 60_000, schema: { type: 'object' } })
    const icons = [{ src: 'https://a.example/i.png' }]
    export const text = defineResource({
      uri: 'test:text', name: 'text', title: 'Text', description: 'A text.', mimeType: 'text/x-a', size: 2, icons,
      annotations: { priority: 1 }, _meta: { 'example.com/a': 1 }, read: () => 'hi'
    })
    export const bytes = defineResource({ uri: 'test:bytes', name: 'bytes', read: () => new Uint8Array([0, 1, 255]) })
    export const many = defineResource({ uri: 'test:many', name: 'many', read: () => ({ contents: [
      { uri: 'test:1', mimeType: 'text/x-1', text: '1' }, { uri: 'test:2', blob: Buffer.from('2'), _meta: { 'example.com/b': 2 } }
    ] }) })
    export const none = defineResource({ uri: 'test:none', name: 'none', read: () => undefined })
    export const wrong = defineResource({ uri: 'test:wrong', name: 'wrong', read: () => [] })
    export const refused = defineResource({ uri: 'test:refused', name: 'refused', read () { throw new ToolError('Not today.') } })
    export const thing = defineResource({
      uri: 'test:thing', name: 'thing', read: async (ctx) => (await ctx.handles(things).read('thg_${'A'.repeat(22)}')).x
    })
    export const book = defineResourceTemplate({
      uriTemplate: 'book://{id}', name: 'book', title: 'A book', mimeType: 'text/x-book',
      list: () => [{ name: 'one', title: 'One', variables: { id: 'ü 1' }, size: 6 }],
      read: ({ id }, ctx) => id === 'none' ? undefined : 'book ' + id + ' at ' + ctx.uri
    })
    export const secret = defineResource({ uri: 'secret:a', name: 'a', scopes: ['s'], read: () => 'secret' })
    export const all = defineResourceTemplate({ uriTemplate: 'secret:{+path}', name: 'all', read: () => 'all' })
    export const paid = defineResource({
      uri: 'paid:a', name: 'b', scopes: ['s'], whenMissing: 'challenge', read: () => 'paid'
    })
    export const chain = defineResourceTemplate({
      uriTemplate: 'chain://{left}', name: 'chain',
      read: async ({ left }, ctx) => left === '1' ? 'end' : (await ctx.readResource('chain://' + (left - 1)))[0].text
    })`,
  'resources/docs/a.md': '# a',
  'resources/docs/hidden.md': '# hidden',
  'resources/docs/hidden.md.meta.yaml': 'scopes: [s]\n',
  'resources/docs/b.png': Uint8Array.of(137, 80, 78, 71),
  'resources/large.txt': 'x'.repeat(2000)
}

const OPTIONS = { authenticator, maxResourceBytes: 1024 }

const toCall = (name: string, call: string, uri: string, authorization = '') => ({
  method: 'tools/call', params: { name, arguments: { call, uri } }, headers: { authorization }
})
const toRead = (uri: string, authorization = '') => ({
  method: 'resources/read', params: { uri }, headers: { authorization }
})

t.test('readResource resolves to the contents that a client would get (151, 152)', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  for (const uri of [
    'test:text', 'test:bytes', 'test:many', 'book://1', 'book://ü 1', 'file:///docs/a.md', 'file:///docs/b.png',
    'file:///docs', 'file:///docs/', 'secret:b', 'chain://8'
  ]) {
    const { contents } = (await send(app, toRead(uri))).response.result
    const { result } = (await send(app, toCall('get', 'readResource', uri))).response
    t.strictSame(result.structuredContent, { got: contents }, uri)
    const { content: [embedded] } = (await send(app, toCall('send', 'embedResource', uri))).response.result
    t.match(embedded, { type: 'resource', resource: contents[0] }, uri)
  }
})

t.test('linkResource has the members of the list, or of the template', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  const { resources } = (await send(
    app, { method: 'resources/list', headers: { authorization: 's' } }
  )).response.result
  const linkTo = async (uri: string): Promise<Message> => {
    const { content } = (await send(app, toCall('send', 'linkResource', uri, 's'))).response.result
    const [link, text] = content
    t.match(text.text, link.uri)
    return [link]
  }
  t.ok(resources.length > 8)
  for (const entry of resources) {
    t.strictSame(await linkTo(entry.uri), [{ type: 'resource_link', ...entry }])
  }
  t.strictSame(await linkTo('book://2'), [
    { type: 'resource_link', uri: 'book://2', name: 'book', title: 'A book', mimeType: 'text/x-book' }
  ])
  t.strictSame(await linkTo('file:///'), [
    { type: 'resource_link', uri: 'file:///', name: '/', mimeType: 'inode/directory' }
  ])
})

t.test('a caller reads through a tool what it may read itself (154, 264)', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  const { response } = await send(app, toRead('secret:a'))
  t.equal(response.error.message, 'Resource not found: secret:a', 'not by way of the template either')
  for (const call of CALLS) {
    const hidden = call === 'linkResource' ? [] : ['secret:a', 'secret:%61']
    for (const uri of [...hidden, 'nothing:a', 'not a uri', '']) {
      const { result } = (await send(app, toCall('get', call, uri))).response
      t.match(result, { isError: true, content: [{ text: `Resource not found: ${uri}` }] }, `${call} ${uri}`)
    }
    const { status, headers, response } = await send(app, toCall('get', call, 'paid:a'))
    t.equal(status, 403)
    t.match(headers['www-authenticate'], /error="insufficient_scope".* scope="s"/)
    t.strictSame(response.error.data, { requiredScopes: ['s'] })
    for (const uri of ['secret:a', 'paid:a']) {
      t.notOk((await send(app, toCall('get', call, uri, 's'))).response.result.isError, `${call} ${uri}`)
    }
  }
})

t.test('a link does not tell whether a resource is hidden or missing', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  const linkTo = async (uri: string): Promise<Message> => {
    const { result } = (await send(app, toCall('send', 'linkResource', uri))).response
    const { content: [{ uri: own, ...members }] } = result
    t.equal(own, uri)
    return members
  }
  const [hidden, missing] = ['file:///docs/hidden.md', 'file:///docs/missing.md']
  t.match(await linkTo(missing), { name: 'files' })
  t.strictSame(await linkTo(hidden), await linkTo(missing))
  for (const uri of ['secret:a', 'secret:%61', 'secret:missing']) {
    t.strictSame(await linkTo(uri), { type: 'resource_link', name: 'all' })
  }
})

t.test('what cannot be read is a tool error, and a broken resource an internal error', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  for (const [uri, text] of [
    ['test:none', 'Resource not found: test:none'],
    ['book://none', 'Resource not found: book://none'],
    ['test:thing', 'Resource not found: test:thing'],
    ['test:refused', 'Not today.'],
    ['file:///large.txt', 'Resource too large: 2000 bytes, the limit is 1024'],
    [
      'chain://9',
      'A resource that reads another may be nested 8 deep, and "chain://1" is deeper. Read it with a request of ' +
        'its own.'
    ]
  ] as const) {
    const { result } = (await send(app, toCall('get', 'readResource', uri))).response
    t.match(result, { isError: true, content: [{ text }] }, uri)
    const params = { name: 'p', arguments: { uri } }
    t.match((await send(app, { method: 'prompts/get', params })).response.error, { code: 422, message: text })
  }
  t.match((await send(app, toRead('chain://9'))).response.result.contents, [{ text: 'end' }], 'from a read: 8')
  t.match((await send(app, toRead('chain://10'))).response.error, { code: 422 })
  t.equal((await send(app, toCall('get', 'readResource', 'test:wrong'))).response.error.code, -32603)
})

t.test('a prompt embeds a resource', async (t) => {
  const app = await buildApp(t, FILES, OPTIONS)
  const params = { name: 'p', arguments: { uri: 'file:///docs/a.md' } }
  t.strictSame((await send(app, { method: 'prompts/get', params })).response.result.messages, [{
    role: 'user',
    content: { type: 'resource', resource: { uri: 'file:///docs/a.md', mimeType: 'text/markdown', text: '# a' } }
  }])
})

t.test('a session gets what its revision has (377)', async (t) => {
  const url = await listen(await buildApp(t, FILES, OPTIONS))
  for (const [revision, link] of [
    ['2024-11-05', { type: 'text', text: 'Resource text: test:text\nA text.' }],
    ['2025-06-18', { type: 'resource_link', uri: 'test:text', title: 'Text', icons: undefined }],
    ['2025-11-25', { type: 'resource_link', uri: 'test:text', icons: [{ src: 'https://a.example/i.png' }] }]
  ] as const) {
    const session = await openSession(t, url, { revision })
    const send = async (call: string, uri: string) =>
      (await session.call('send', { call, uri })).result.content[0]
    t.match(await send('linkResource', 'test:text'), link)
    t.match(await send('embedResource', 'test:text'), { type: 'resource', resource: { text: 'hi' } })
  }
})
