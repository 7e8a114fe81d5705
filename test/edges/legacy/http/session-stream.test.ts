// The stream of a session's change notifications.

import t, { type Test } from 'tap'
import { createApp } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace } from '../../../helpers/catalog-folder.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { QUIET } from '../../../helpers/quiet-options.ts'
import { LEGACY_REVISIONS, openSession } from '../../../helpers/session.ts'
import { FILES, follow, serve, touch, unfollow, urisOf } from './session-stream-catalog.ts'

/** Starts a service that watches its catalog. */
async function serveLive (t: Test): Promise<{ readonly url: string, readonly root: string }> {
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a'), 'prompts/p.md': 'Hello\n', 'resources/r.txt': 'r'
  })
  const app = await createApp({ catalog: root, ...QUIET, watch: 'on' })
  t.teardown(async () => await app.close())
  return { url: await listen(app), root }
}

for (const revision of LEGACY_REVISIONS) {
  t.test(`at ${revision}`, async (t) => {
    const url = await serve(t)
    const session = await openSession(t, url, { revision })
    const stream = await session.get()

    t.test('opens at once, in the last revision with an empty event (326, 350, 352)', async (t) => {
      t.equal(stream.status, 200)
      t.match(stream.headers, { 'content-type': 'text/event-stream', 'cache-control': /no-cache/ })
      if (revision === '2025-11-25') await until(() => stream.events.length === 1, 'the first event')
      else await until(() => stream.comments === 1, 'a sign of life')
      t.match(stream.events, revision === '2025-11-25' ? [{ id: /^[\x21-\x7e]+$/, data: '' }] : [])
    })

    t.test('notifies only of resources that the session subscribed to (338, 342)', async (t) => {
      await follow(session, 'test:a')
      await follow(session, 'test:b')
      for (const uri of ['test:other', 'test:a', 'test:b']) await touch(session, uri)
      t.strictSame(
        [await stream.next(), await stream.next()],
        ['test:a', 'test:b'].map(
          (uri) => ({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
        )
      )
    })

    t.test('does not notify after an unsubscribe (338)', async (t) => {
      t.strictSame((await unfollow(session, 'test:a')).result, {})
      t.strictSame((await unfollow(session, 'test:never')).result, {}, 'also without a subscription')
      await touch(session, 'test:a')
      await touch(session, 'test:b')
      t.equal((await stream.next()).params.uri, 'test:b')
    })

    t.test('a second stream ends the first, and each change is sent once (328, 329)', async (t) => {
      const second = await session.get()
      t.equal((await stream.ended()).isComplete, true)
      const before = stream.messages.length
      await touch(session, 'test:b')
      t.equal((await second.next()).params.uri, 'test:b')
      t.equal(stream.messages.length, before)
      t.strictSame(
        second.messages.filter((message) => !('method' in message)), [], 'no response (327)'
      )
    })
  })
}

t.test('a subscription also holds for a stream that is opened later (338)', async (t) => {
  const session = await openSession(t, await serve(t))
  await follow(session, 'test:a')
  const stream = await session.get()
  await touch(session, 'test:a')
  t.equal((await stream.next()).params.uri, 'test:a')
})

t.test('a session gets no notifications of another session (338)', async (t) => {
  const url = await serve(t)
  const [one, two] = [await openSession(t, url), await openSession(t, url)]
  await follow(one, 'test:a')
  await follow(two, 'test:b')
  const [first, second] = [await one.get(), await two.get()]
  for (const uri of ['test:a', 'test:b']) await touch(one, uri)
  await first.next()
  await second.next()
  t.strictSame([urisOf(first), urisOf(second)], [['test:a'], ['test:b']])
})

t.test('messages of a call go to the call, and changes to the stream (327, 328)', async (t) => {
  const session = await openSession(t, await serve(t))
  await follow(session, 'test:a')
  const stream = await session.get()
  const { messages } = await session.call('loud', { uri: 'test:a' }, { meta: { progressToken: 1 } })
  t.strictSame(messages.map(({ method }) => method), [
    'notifications/message', 'notifications/progress', undefined
  ])
  await stream.next()
  t.strictSame(stream.messages.map(({ method }) => method), ['notifications/resources/updated'])
})

t.test('no subscription is lost of many that are made at once (338)', async (t) => {
  const session = await openSession(t, await serve(t))
  const uris = Array.from({ length: 30 }, (_, index) => `test:${index}`)
  await Promise.all(uris.map(async (uri) => await follow(session, uri)))
  const stream = await session.get()
  for (const uri of uris) await touch(session, uri)
  await until(() => stream.messages.length === uris.length, 'every change')
  t.strictSame(urisOf(stream).sort(), [...uris].sort())
})

t.test('a session may subscribe to a thousand resources', async (t) => {
  const session = await openSession(t, await serve(t))
  for (let from = 0; from < 1000; from += 50) {
    await Promise.all(
      Array.from(
        { length: 50 },
        async (_, index) => await session.request('resources/subscribe', { uri: `test:${from + index}` })
      )
    )
  }
  let refused = 0
  for (let at = 0; at < 1001; at += 250) {
    if ((await session.request('resources/subscribe', { uri: `test:${at}` })).error !== undefined) refused++
  }
  const more = await session.request('resources/subscribe', { uri: 'test:more' })
  t.equal(refused, 1, 'a repeated subscription counts once')
  t.equal(more.error.code, -32602)
})

t.test('notifies each session once of each list that changed (339)', async (t) => {
  const { url, root } = await serveLive(t)
  const sessions = await Promise.all(
    LEGACY_REVISIONS.map(async (revision) => await openSession(t, url, { revision }))
  )
  for (const { initialized: { capabilities } } of sessions) {
    t.match(capabilities, {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true }
    })
  }
  const streams = await Promise.all(sessions.map(async (session) => await session.get()))
  await writeInPlace(root, 'tools/b.ts', toolModule('b'))
  for (const stream of streams) {
    t.strictSame(await stream.next(), { jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }
  await writeInPlace(root, 'prompts/q.md', 'Hello\n')
  for (const stream of streams) t.equal((await stream.next()).method, 'notifications/prompts/list_changed')
  for (const session of sessions) t.equal((await session.request('tools/list')).result.tools.length, 2)
})

t.test('a catalog that is not watched has no listChanged capability (339)', async (t) => {
  const session = await openSession(t, await serve(t))
  t.strictSame(session.initialized.capabilities, {
    tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {}
  })
})

t.test('a client that reconnects is notified of the changes that it missed (347)', async (t) => {
  const session = await openSession(t, await serve(t))
  await follow(session, 'test:a')
  await follow(session, 'test:b')
  const stream = await session.get()
  await until(() => stream.events.length === 1, 'the first event')
  stream.close()
  await touch(session, 'test:a')
  const back = await session.get({ 'last-event-id': stream.lastEventId })
  t.equal(back.status, 200, 'a second stream is not refused (329)')
  await until(() => urisOf(back).includes('test:a'), 'the missed change')
  await touch(session, 'test:b')
  await until(() => urisOf(back).includes('test:b'), 'the next change')
})

t.test('an unknown Last-Event-ID opens a stream or is refused', async (t) => {
  const session = await openSession(t, await serve(t))
  for (const id of [
    'garbage', '', 's.', 's.zzzzzzzzzz.1', 's.zzzzzzzzzz.AAAAAAAA.1', 's.0.0', 's.-1.1', 'c.',
    'c.AAAAAAAAAAAAAAAA.1', 'c.AAAAAAAAAAAAAAAA.999999999', 'c.AAAAAAAAAAAAAAAA.-1', 'c.../../../etc/pass.1',
    `c.${'A'.repeat(5000)}.1`, '__proto__', '*'
  ]) {
    const reply = await session.get({ 'last-event-id': id })
    t.ok([200, 400].includes(reply.status), `${id.slice(0, 30)}: ${reply.status}`)
    reply.close()
  }
  t.equal((await session.request('ping')).status, 200)
})

t.test('sends keep-alive comments', async (t) => {
  const session = await openSession(t, await serve(t, { keepAliveMs: 100 }))
  const stream = await session.get()
  await until(() => stream.comments >= 2, 'two comments')
  t.pass()
})

t.test('refuses a stream over the limit', async (t) => {
  const url = await serve(t, { maxStreams: 2 })
  const sessions = await Promise.all([1, 2, 3].map(async () => await openSession(t, url)))
  const [one, two, three] = sessions
  if (one === undefined || two === undefined || three === undefined) throw new TypeError('unreachable')
  await one.get()
  const second = await two.get()
  const refused = await (await three.get()).ended()
  t.strictSame([refused.status, refused.error.code, 'retry-after' in refused.headers], [503, 503, true])
  second.close()
  await until(async () => (await three.get()).status === 200, 'a free place')
})

t.test('a session may replace its stream at the limit', async (t) => {
  const session = await openSession(t, await serve(t, { maxStreams: 1 }))
  const first = await session.get()
  t.equal((await session.get()).status, 200, 'it replaces the session\'s own stream')
  await first.ended()
})

t.test('a shutdown ends the stream completely', async (t) => {
  const app = await buildApp(t, FILES)
  const session = await openSession(t, await listen(app))
  const stream = await session.get()
  await within(app.close(), 'the end of the service')
  t.equal((await stream.ended()).isComplete, true)
})

t.test('refuses to subscribe to a text that is no URI, and to URIs that are too long together', async (t) => {
  const session = await openSession(t, await serve(t))
  for (const uri of ['', 'no uri', '//host/path', 'test:%zz', `test:${'x'.repeat(20_000)}`]) {
    t.equal((await session.request('resources/subscribe', { uri })).error.code, -32602, uri)
  }
  for (let i = 0; i < 9; i++) await follow(session, `test:${i}${'x'.repeat(7000)}`)
  const { error } = await session.request('resources/subscribe', { uri: `test:${'y'.repeat(7000)}` })
  t.match(error, { code: -32602, message: /65536 characters/ })
})
