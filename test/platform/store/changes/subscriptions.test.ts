import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { META_SUBSCRIPTION_ID } from '../../../../src/platform/protocol/envelope.ts'
import { until } from '../../../helpers/deadline.ts'
import { build, FakeSink, listen, publishUpdates } from './fake-sink.ts'

t.test('acknowledges first, even while events are being published (194, 195)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  const publishing = broadcast.publish({ type: 'tools-changed' })
  listen(subscriptions, 's', { toolsListChanged: true }, sink)
  await Promise.all([publishing, broadcast.publish({ type: 'tools-changed' })])
  await turn()
  t.strictSame(sink.messages, [
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [META_SUBSCRIPTION_ID]: 's' }, notifications: { toolsListChanged: true } }
    },
    {
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta: { [META_SUBSCRIPTION_ID]: 's' } }
    }
  ])
})

t.test('sends only what the filter includes, and treats false as absent (197, 198)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const asking = {
    tools: new FakeSink(),
    prompts: new FakeSink(),
    resources: new FakeSink(),
    one: new FakeSink(),
    nothing: new FakeSink()
  }
  listen(subscriptions, 1, { toolsListChanged: true, promptsListChanged: false }, asking.tools)
  listen(subscriptions, 2, { promptsListChanged: true, resourcesListChanged: false }, asking.prompts)
  listen(subscriptions, 3, { resourcesListChanged: true, toolsListChanged: false }, asking.resources)
  listen(subscriptions, 4, { resourceSubscriptions: ['shop://a'] }, asking.one)
  listen(subscriptions, 5, {}, asking.nothing)
  await broadcast.publish({ type: 'tools-changed' })
  await broadcast.publish({ type: 'prompts-changed' })
  await broadcast.publish({ type: 'resources-changed' })
  await publishUpdates(broadcast, ['shop://a', 'shop://b'])
  await turn()
  t.strictSame(asking.tools.methods, ['notifications/tools/list_changed'])
  t.strictSame(asking.prompts.methods, ['notifications/prompts/list_changed'])
  t.strictSame(asking.resources.methods, ['notifications/resources/list_changed'])
  t.strictSame(asking.one.methods, ['notifications/resources/updated'])
  t.strictSame(asking.one.uris, ['shop://a'])
  t.strictSame(asking.nothing.methods, [])
})

t.test('sends the id of the request as the subscription id, with its type (196)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  for (const id of ['7', 7, 0, '', -1]) {
    const sink = new FakeSink()
    listen(
      subscriptions, id,
      { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a://b'] }, sink
    )
    await broadcast.publish({ type: 'tools-changed' })
    await broadcast.publish({ type: 'prompts-changed' })
    await publishUpdates(broadcast, ['a://b'])
    // On a busy machine one turn may not have the time for all messages.
    await until(() => sink.messages.length >= 4, 'the messages')
    await turn()
    t.equal(sink.messages.length, 4)
    for (const { params } of sink.messages) t.strictSame(params._meta, { [META_SUBSCRIPTION_ID]: id })
  }
})

t.test('reports repeated changes within one turn of the event loop once', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['a://1', 'a://2'] }, sink)
  for (let i = 0; i < 50; i++) {
    await broadcast.publish({ type: 'tools-changed' })
    await publishUpdates(broadcast, ['a://1', 'a://2'])
  }
  await turn()
  t.strictSame(sink.methods, [
    'notifications/tools/list_changed', 'notifications/resources/updated', 'notifications/resources/updated'
  ])
  t.strictSame(sink.uris, ['a://1', 'a://2'])
  await broadcast.publish({ type: 'tools-changed' })
  await turn()
  t.equal(sink.messages.length, 5, 'what happens later is told again')
})

t.test('a subscription to a directory reports changed resources in it by their own URIs (163)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const open = (uri: string) => {
    const sink = new FakeSink()
    listen(subscriptions, uri, { resourceSubscriptions: [uri] }, sink)
    return sink
  }
  const directory = open('file:///docs')
  const withSlash = open('file:///docs/')
  const file = open('file:///docs/a.md')
  await publishUpdates(broadcast, [
    'file:///docs/a.md', 'file:///docs/deep/b.md', 'file:///docs', 'file:///docs.md', 'file:///docs-old/a.md',
    'file:///', 'file:///docs/a.md.bak'
  ])
  await turn()
  t.strictSame(directory.uris, [
    'file:///docs/a.md', 'file:///docs/deep/b.md', 'file:///docs', 'file:///docs/a.md.bak'
  ])
  t.strictSame(withSlash.uris, directory.uris, 'with or without a slash it is the same directory')
  t.strictSame(file.uris, ['file:///docs/a.md'])
})

t.test('missed events are reported as changes of all that the filter includes', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const everything = new FakeSink()
  const tools = new FakeSink()
  const nothing = new FakeSink()
  listen(
    subscriptions, 1,
    {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['shop://a', 'file:///docs/']
    },
    everything
  )
  listen(subscriptions, 2, { toolsListChanged: true, promptsListChanged: false }, tools)
  listen(subscriptions, 3, {}, nothing)
  await broadcast.publish({ type: 'events-missed' })
  await turn()
  t.strictSame(everything.methods, [
    'notifications/tools/list_changed', 'notifications/prompts/list_changed',
    'notifications/resources/list_changed',
    'notifications/resources/updated', 'notifications/resources/updated'
  ])
  t.strictSame(everything.uris, ['shop://a', 'file:///docs/'], 'by the URIs that it asked for')
  t.strictSame(tools.methods, ['notifications/tools/list_changed'])
  t.strictSame(nothing.methods, [])
})

t.test('streams with equal ids are independent (202, 203)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const [first, second] = [new FakeSink(), new FakeSink()]
  listen(subscriptions, 1, { toolsListChanged: true }, first)
  listen(subscriptions, 1, { promptsListChanged: true }, second)
  t.equal(subscriptions.size, 2)
  first.leave()
  t.equal(subscriptions.size, 1)
  await broadcast.publish({ type: 'tools-changed' })
  await broadcast.publish({ type: 'prompts-changed' })
  await turn()
  t.strictSame(first.methods, [], 'a client that is gone is told nothing')
  t.strictSame(second.methods, ['notifications/prompts/list_changed'])
})

t.test('a closed stream gets no pending notifications', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 1, { toolsListChanged: true }, sink)
  await broadcast.publish({ type: 'tools-changed' })
  sink.leave()
  await turn()
  t.strictSame(sink.methods, [])
})

t.test('flushes thousands of streams over several turns of the event loop', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sinks = Array.from({ length: 1200 }, () => new FakeSink())
  for (const [id, sink] of sinks.entries()) listen(subscriptions, id, { toolsListChanged: true }, sink)
  await broadcast.publish({ type: 'tools-changed' })
  await turn()
  const told = () => sinks.filter(({ methods }) => methods.length === 1).length
  t.ok(told() > 0 && told() < sinks.length, `${told()} in the first turn`)
  await until(() => told() === sinks.length, 'all of them')
})

t.test('closing sends pending notifications, and ends each stream with its result (204)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const [text, number] = [new FakeSink(), new FakeSink()]
  listen(subscriptions, 'a', { toolsListChanged: true }, text)
  listen(subscriptions, 2, {}, number)
  await broadcast.publish({ type: 'tools-changed' })
  subscriptions.close()
  subscriptions.close()
  t.strictSame(text.methods, ['notifications/tools/list_changed', undefined])
  t.strictSame(text.messages.at(-1), {
    jsonrpc: '2.0', id: 'a', result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: 'a' } }
  })
  t.strictSame(number.messages.at(-1), {
    jsonrpc: '2.0', id: 2, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: 2 } }
  })
  t.ok(text.wasEnded && number.wasEnded)
  t.equal(subscriptions.size, 0)
  await broadcast.publish({ type: 'tools-changed' })
  await turn()
  t.equal(text.messages.length, 3)

  const late = new FakeSink()
  listen(subscriptions, 'late', { toolsListChanged: true }, late)
  t.match(late.messages, [
    { method: 'notifications/subscriptions/acknowledged' }, { id: 'late', result: { resultType: 'complete' } }
  ])
  t.ok(late.wasEnded, 'a stream that is opened afterwards is acknowledged and ended at once')
})

t.test('thousands of changes for thousands of streams take little time', async (t) => {
  const { broadcast, subscriptions } = build(t)
  for (let id = 0; id < 2000; id++) {
    listen(subscriptions, id, { resourceSubscriptions: [`file:///other/${id}`] }, new FakeSink())
  }
  const before = process.cpuUsage()
  await publishUpdates(broadcast, Array.from({ length: 3000 }, (_, index) => `file:///a/b/c/d/e/f/g/${index}.txt`))
  const { user } = process.cpuUsage(before)
  t.ok(user < 4_000_000, `${user / 1000} ms of CPU`)
})

t.test('a second change before the first was told to all: each stream is told both, in order', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sinks = Array.from({ length: 1200 }, () => new FakeSink())
  for (const [id, sink] of sinks.entries()) {
    listen(subscriptions, id, { toolsListChanged: true, promptsListChanged: true }, sink)
  }
  await broadcast.publish({ type: 'tools-changed' })
  await turn()
  const [told, untold] = [sinks[0], sinks[1199]]
  t.ok(told?.methods.length === 1 && untold?.methods.length === 0, 'the first change was told to some')
  // One of those who leave was told, one was not.
  told?.leave()
  untold?.leave()
  await broadcast.publish({ type: 'prompts-changed' })
  const staying = sinks.slice(1, -1)
  await until(() => staying.every(({ methods }) => methods.length === 2), 'both changes')
  const both = ['notifications/tools/list_changed', 'notifications/prompts/list_changed']
  t.strictSame(new Set(staying.map(({ methods }) => methods.join())), new Set([both.join()]))
  t.strictSame([told?.methods, untold?.methods], [both.slice(0, 1), []])
})

t.test('thousands of streams are kept alive over several turns of the event loop', async (t) => {
  const { subscriptions } = build(t, { keepAliveMs: 30 })
  const sinks = Array.from({ length: 1200 }, () => new FakeSink())
  for (const [id, sink] of sinks.entries()) listen(subscriptions, id, {}, sink)
  const kept = () => sinks.filter(({ keptAlive }) => keptAlive > 0).length
  let most = 0
  for (let before = 0; kept() < sinks.length; before = kept()) {
    await turn()
    most = Math.max(most, kept() - before)
  }
  t.ok(most <= 500, `${most} in one turn`)
})
