// URIs that a client or an author writes without percent-encoding.

import t from 'tap'
import { moduleOf } from '../../catalog/folder/definition-modules.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream } from '../../helpers/stream.ts'

const FILES = {
  'resources/a b.txt': 'a file',
  'resources/n.resource.ts': moduleOf(`
    export const note = defineResourceTemplate({
      uriTemplate: 'note://{id}', name: 'note',
      list: () => [{ uri: 'note://ünï', name: 'listed' }],
      read: ({ id }, { uri }) => id + ' at ' + uri
    })
    export const echo = defineResourceTemplate({
      uriTemplate: 'echo://{id}', name: 'echo', read: ({ id }) => ({ uri: 'echo://' + id, text: id })
    })
    export const fixed = defineResource({ uri: 'fixed://a ü', name: 'fixed', read: () => 'fixed' })
  `),
  'tools/touch.ts': moduleOf(`export default defineTool({
    name: 'touch', inputSchema: { type: 'object', properties: { uri: { type: 'string' } } },
    run: ({ uri }, { notify }) => notify.resourceUpdated(uri)
  })`)
}

/** What a client asks for, and the URI and the text that it receives. */
const READ: ReadonlyArray<readonly [asked: string, uri: string, text: string]> = [
  ['note://日本', 'note://%E6%97%A5%E6%9C%AC', '日本 at note://%E6%97%A5%E6%9C%AC'],
  ['note://a b', 'note://a%20b', 'a b at note://a%20b'],
  ['note://a%20b', 'note://a%20b', 'a b at note://a%20b'],
  ['echo://é', 'echo://%C3%A9', 'é'],
  ['fixed://a ü', 'fixed://a%20%C3%BC', 'fixed'],
  ['fixed://a%20%C3%BC', 'fixed://a%20%C3%BC', 'fixed'],
  ['file:///a b.txt', 'file:///a%20b.txt', 'a file']
]

const UNKNOWN = ['note://100%', 'note://%zz', 'note://a#b#c', 'fixed://%', '日本', '']

t.test('a URI is read also where its characters are not percent-encoded (151, 153)', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, FILES, { logger: log.logger })
  const session = await openSession(t, await listen(app))
  for (const [asked, uri, text] of READ) {
    const params = { uri: asked }
    for (const { result } of [
      (await send(app, { method: 'resources/read', params })).response,
      await session.request('resources/read', params)
    ]) t.match(result?.contents, [{ uri, text }], asked)
  }
  for (const uri of UNKNOWN) {
    const modern = await send(app, { method: 'resources/read', params: { uri } })
    t.match(modern.response.error, { code: -32602, data: { uri } }, `${uri} is not a resource (154)`)
    const legacy = await session.request('resources/read', { uri })
    t.match(legacy.error, { code: -32002, data: { uri } }, `${uri} is not a resource (340)`)
  }
  t.notOk(log.lines.some(({ level }) => level > 40), 'and none of them is an internal error')
})

t.test('lists URIs percent-encoded, as the author need not write them (150)', async (t) => {
  const app = await buildApp(t, FILES)
  const { resources } = (await send(app, { method: 'resources/list' })).response.result
  t.strictSame(resources.map(({ uri }: { uri: string }) => uri), [
    'file:///a%20b.txt', 'fixed://a%20%C3%BC', 'note://%C3%BCn%C3%AF'
  ])
  for (const { uri } of resources) {
    t.ok((await send(app, { method: 'resources/read', params: { uri } })).response.result, uri)
  }
})

t.test('a subscription and a change meet in any spelling of the URI (163, 338)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await openSession(t, url, { revision: '2025-06-18' })
  const changes = await session.get()
  const stream = await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: ['note://日本', 'note://日本'] } }
  })
  const uri = 'note://%E6%97%A5%E6%9C%AC'
  t.match(await stream.next(), { params: { notifications: { resourceSubscriptions: [uri] } } })
  await session.request('resources/subscribe', { uri: 'note://日本' })
  await session.request('resources/subscribe', { uri: 'note://other' })
  for (const uri of ['not a uri', 'note://日本']) await session.call('touch', { uri })
  t.match(await stream.next(), { params: { uri } })
  t.match(await changes.next(), { params: { uri } })
  t.strictSame((await session.request('resources/unsubscribe', { uri: 'note://日本' })).result, {})
  for (const uri of ['note://日本', 'note://other']) await session.call('touch', { uri })
  t.match(await changes.next(), { params: { uri: 'note://other' } })
})
