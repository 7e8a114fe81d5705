// subscriptions/listen over a real socket.

import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, writeByRename, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import type { RequestParts } from '../../helpers/request.ts'
import { openStream, post, startRequest } from '../../helpers/stream.ts'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

const FILES = {
  'tools/touch.ts': toolModule('touch', "inputSchema: { type: 'object', properties: { uris: { type: " +
    "'array', items: { type: 'string' } } } }",
  "({ uris }, ctx) => { ctx.progress(1); ctx.log.error('touched'); for (const uri of uris) " +
      "ctx.notify.resourceUpdated(uri); return 'ok' }"),
  // Distinct URIs of 4 kB each, some of them in each turn of the event loop.
  'tools/flood.ts': toolModule('flood', "inputSchema: { type: 'object', properties: { count: { type: " +
    "'integer' } } }",
  'async ({ count }, ctx) => { for (let i = 0; i < count; i++) { ' +
      "ctx.notify.resourceUpdated('file:///docs/' + i + '/' + 'x'.repeat(4000)); if (i % 100 === 0) await " +
        "new Promise(setImmediate) } return 'ok' }"),
  'resources/docs/a.md': '# a',
  'resources/b.md': '# b'
}

function subscribe (
  notifications: object, id: string | number = 'sub', more: Partial<RequestParts> = {}
): RequestParts {
  return { method: 'subscriptions/listen', params: { notifications }, id, ...more }
}

const touch = (...uris: string[]): RequestParts => ({
  method: 'tools/call', params: { name: 'touch', arguments: { uris } }
})

async function serve (t: Test, options: AppOptions = {}): Promise<string> {
  return await listen(await buildApp(t, FILES, options))
}

t.test('opens a stream, acknowledges and sends notifications (193, 194, 196, 199)', async (t) => {
  const url = await serve(t)
  const stream = await openStream(t, url, subscribe({
    toolsListChanged: true,
    promptsListChanged: false,
    resourceSubscriptions: ['file:///b.md', 'file:///docs', 'file:///b.md', 'nowhere://x'],
    somethingElse: true
  }, 17))
  t.equal(stream.status, 200)
  t.match(stream.headers, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  t.strictSame(await stream.next(), {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: {
      _meta: { [SUBSCRIPTION_ID]: 17 },
      notifications: { resourceSubscriptions: ['file:///b.md', 'file:///docs'] }
    }
  }, 'lists that cannot change, and resources that do not exist, are left out')

  t.match((await post(t, url, touch('file:///docs/a.md', 'file:///other.md', 'file:///b.md'))).response, {
    result: { content: [{ text: 'ok' }] }
  })
  const updates = [await stream.next(), await stream.next()]
  t.strictSame(updates, ['file:///docs/a.md', 'file:///b.md'].map((uri) =>
    ({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { _meta: { [SUBSCRIPTION_ID]: 17 }, uri }
    })))
  await post(t, url, touch('file:///b.md'))
  await stream.next()
  t.equal(stream.messages.length, 4)
  t.notOk(stream.hasEnded)
})

t.test('sends neither progress nor log messages on the stream (201, 250)', async (t) => {
  const url = await serve(t)
  const talkative = { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' }
  const stream = await openStream(
    t, url, subscribe({ resourceSubscriptions: ['file:///b.md'] }, 1, { meta: talkative })
  )
  await stream.next()
  const { messages } = await post(t, url, { ...touch('file:///b.md'), meta: talkative })
  t.match(messages, [
    { method: 'notifications/progress' }, { method: 'notifications/message' }, { result: {} }
  ])
  t.match(await stream.next(), { method: 'notifications/resources/updated' })
  t.equal(stream.messages.length, 2)
})

t.test('streams with equal ids are independent (202)', async (t) => {
  const url = await serve(t)
  const uris = ['file:///b.md', 'file:///docs/a.md']
  const streams = await Promise.all(
    uris.map(async (uri) => await openStream(t, url, subscribe({ resourceSubscriptions: [uri] }, 1)))
  )
  for (const stream of streams) await stream.next()
  await post(t, url, touch(...uris))
  for (const [index, stream] of streams.entries()) {
    t.equal((await stream.next()).params.uri, uris[index])
    t.equal(stream.messages.length, 2)
  }
})

t.test('announces a changed file by its list and by its URI (135, 162, 163, 192)', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const app = await createApp({ catalog, logLevel: 'silent', stateUrl: 'memory:' })
  t.teardown(async () => await app.close())
  const url = await listen(app)
  const lists = await openStream(
    t, url,
    subscribe({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, 'lists')
  )
  const file = await openStream(t, url, subscribe({ resourceSubscriptions: ['file:///b.md'] }, 'file'))
  t.strictSame((await lists.next()).params.notifications, {
    toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true
  })
  await file.next()

  await writeByRename(catalog, 'tools/new.ts', toolModule('new_tool'))
  t.strictSame(await lists.next(), {
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
    params: { _meta: { [SUBSCRIPTION_ID]: 'lists' } }
  })
  t.match((await post(t, url, { method: 'tools/call', params: { name: 'new_tool' } })).response, {
    result: { content: [{ text: 'ok' }] }
  })

  await writeByRename(catalog, 'resources/b.md', '# changed')
  t.match(await file.next(), { method: 'notifications/resources/updated', params: { uri: 'file:///b.md' } })
  t.match(
    await lists.next(), { method: 'notifications/resources/list_changed' },
    'the list has its size and time'
  )
  t.equal(file.messages.length, 2)
})

t.test('refuses a stream over the limit until another one closes (203, 207)', async (t) => {
  const url = await serve(t, { maxStreams: 2 })
  const [first, second] = [
    await openStream(t, url, subscribe({ resourceSubscriptions: ['file:///b.md'] })),
    await openStream(t, url, subscribe({}))
  ]
  await first.next()
  await second.next()
  const refused = await post(t, url, subscribe({}, 'third'))
  t.equal(refused.status, 503)
  t.match(refused.headers, { 'content-type': /^application\/json/, 'retry-after': /^\d+$/ })
  t.match(refused.response, {
    jsonrpc: '2.0', id: 'third', error: { message: /^Too many open streams on this replica \(2\)\./ }
  })
  const { code } = refused.response.error
  t.ok(
    Number.isInteger(code) && (code > -32000 || code < -32768),
    'the code is outside the reserved range (69, 71)'
  )

  await post(t, url, touch('file:///b.md'))
  t.match(await first.next(), { method: 'notifications/resources/updated' })
  t.equal(
    (await post(t, url, { method: 'tools/list' })).status, 200, 'requests that are no streams are served'
  )

  second.close()
  let third = refused
  await until(async () => {
    third = await openStream(t, url, subscribe({}))
    return third.status === 200
  }, 'room for another')
  t.match(await third.next(), { method: 'notifications/subscriptions/acknowledged' })
})

t.test('comments keep a quiet stream alive (21, 207)', async (t) => {
  const url = await serve(t, { keepAliveMs: 100 })
  const stream = await openStream(t, url, subscribe({ resourceSubscriptions: ['file:///b.md'] }))
  await until(() => stream.comments >= 3, 'three comments')
  t.equal(stream.messages.length, 1)
  await post(t, url, touch('file:///b.md'))
  await stream.next()
  t.match(await stream.next(), { method: 'notifications/resources/updated' })
})

t.test('closes the stream of a client that does not read, and logs the reason', async (t) => {
  const log = createReadableLog()
  const url = await serve(t, { keepAliveMs: 300, logger: log.logger, maxStreams: 1 })
  const stream = await openStream(t, url, subscribe({ resourceSubscriptions: ['file:///docs'] }, 'slow'), {
    paused: true
  })
  await post(t, url, { method: 'tools/call', params: { name: 'flood', arguments: { count: 6000 } } })
  await until(() => log.lines.some(({ msg }) => /too slow/.test(msg)), 'the line in the log')
  t.match(log.lines.find(({ msg }) => /too slow/.test(msg)), { level: 40, subscriptionId: 'slow' })
  stream.resume()
  await stream.ended()
  t.notOk(stream.isComplete)
  t.ok(stream.receivedBytes < 20_000_000, `${stream.receivedBytes} bytes of 24 million came`)
  t.equal((await openStream(t, url, subscribe({}))).status, 200, 'another stream can be opened')
})

t.test('a client that disconnects before the answer leaves no open stream (203)', async (t) => {
  const count = 48
  const url = await serve(t, { maxStreams: count })
  for (let i = 0; i < count; i++) {
    const { abort } = startRequest(t, url, subscribe({ resourceSubscriptions: ['file:///b.md'] }, i))
    for (let turns = 0; turns < i % 12; turns++) await turn()
    abort()
  }
  for (let i = 0; i < count; i++) {
    await until(async () => (await openStream(t, url, subscribe({}))).status === 200, `room for stream ${i}`)
  }
})

t.test('a client that reads again is notified of the changes that it missed', async (t) => {
  const url = await serve(t)
  const stream = await openStream(
    t, url, subscribe({ resourceSubscriptions: ['file:///docs', 'file:///b.md'] }), { paused: true }
  )
  await post(t, url, { method: 'tools/call', params: { name: 'flood', arguments: { count: 6000 } } })
  await post(t, url, touch('file:///b.md'))
  stream.resume()
  await until(() => stream.messages.some(({ params }) => params.uri === 'file:///b.md'), 'what came last')
  t.ok(
    stream.messages.length < 6000,
    'more than a thousand changes below one directory are told as one of the directory'
  )
})
