import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createMemoryEventBus } from '../../src/backends/memory/event-bus.ts'
import type { EventBus } from '../../src/events/event-bus.ts'
import { ListenMessages } from '../../src/events/listen-messages.ts'
import type { MessageSink } from '../../src/events/message-sink.ts'
import { Subscription } from '../../src/events/subscription.ts'
import {
  createSubscriptions, type Subscriptions, type SubscriptionsOptions
} from '../../src/events/subscriptions.ts'
import type { RequestId } from '../../src/protocol/json-rpc.ts'
import { META_SUBSCRIPTION_ID } from '../../src/protocol/meta-keys.ts'
import type { SubscriptionFilter } from '../../src/protocol/notifications.ts'
import { until } from '../helpers/deadline.ts'
import type { Message } from '../helpers/request.ts'

/** A stream to a client that reads, or does not, as the test wants. */
class FakeSink implements MessageSink {
  isBlocked = false
  readonly #onDrain: Array<() => void> = []
  readonly #onClose: Array<(isComplete: boolean) => void> = []
  readonly messages: Message[] = []
  keptAlive = 0
  wasCut = false
  wasEnded = false

  get methods (): string[] { return this.messages.slice(1).map(({ method }) => method) }
  get uris (): string[] { return this.messages.flatMap(({ params }) => params?.uri ?? []) }

  send (json: string): void { if (!this.wasEnded) this.messages.push(JSON.parse(json)) }
  keepAlive (): void { this.keptAlive++ }
  onDrain (listener: () => void): void { this.#onDrain.push(listener) }
  onClose (listener: (isComplete: boolean) => void): void { this.#onClose.push(listener) }

  end (json: string): void {
    this.send(json)
    this.wasEnded = true
    this.leave()
  }

  cut (): void {
    this.wasCut = true
    this.leave()
  }

  leave (): void {
    for (const listener of this.#onClose.splice(0)) listener(this.wasEnded)
  }

  unblock (): void {
    this.isBlocked = false
    for (const listener of this.#onDrain) listener()
  }
}

function build (
  t: Test, options: Partial<SubscriptionsOptions> = {}
): { bus: EventBus, subscriptions: Subscriptions } {
  const bus = createMemoryEventBus()
  const subscriptions = createSubscriptions(bus, {
    maxStreams: 100,
    keepAliveMs: 60_000,
    onSlowReader () {},
    ...options
  })
  t.teardown(() => subscriptions.close())
  return { bus, subscriptions }
}

function listen (
  subscriptions: Subscriptions, id: RequestId, filter: SubscriptionFilter, sink: MessageSink
): void {
  const writer = {
    write: (_members: string, _meta: object) => JSON.stringify({ resultType: 'complete', _meta })
  }
  subscriptions.open(new Subscription('anonymous', filter, new ListenMessages(id, filter, writer), sink))
}

async function publishUpdates (bus: EventBus, uris: readonly string[]): Promise<void> {
  for (const uri of uris) await bus.publish({ type: 'resource-updated', uri })
}

t.test('acknowledges first, even while events are being published (194, 195)', async (t) => {
  const { bus, subscriptions } = build(t)
  const sink = new FakeSink()
  const publishing = bus.publish({ type: 'tools-changed' })
  listen(subscriptions, 's', { toolsListChanged: true }, sink)
  await Promise.all([publishing, bus.publish({ type: 'tools-changed' })])
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

t.test('sends only what was asked for, and takes false for not asked (197, 198)', async (t) => {
  const { bus, subscriptions } = build(t)
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
  await bus.publish({ type: 'tools-changed' })
  await bus.publish({ type: 'prompts-changed' })
  await bus.publish({ type: 'resources-changed' })
  await publishUpdates(bus, ['shop://a', 'shop://b'])
  await turn()
  t.strictSame(asking.tools.methods, ['notifications/tools/list_changed'])
  t.strictSame(asking.prompts.methods, ['notifications/prompts/list_changed'])
  t.strictSame(asking.resources.methods, ['notifications/resources/list_changed'])
  t.strictSame(asking.one.methods, ['notifications/resources/updated'])
  t.strictSame(asking.one.uris, ['shop://a'])
  t.strictSame(asking.nothing.methods, [])
})

t.test('names the subscription by the id of its request, in the type that the id has (196)', async (t) => {
  const { bus, subscriptions } = build(t)
  for (const id of ['7', 7, 0, '', -1]) {
    const sink = new FakeSink()
    listen(
      subscriptions, id,
      { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a://b'] }, sink
    )
    await bus.publish({ type: 'tools-changed' })
    await bus.publish({ type: 'prompts-changed' })
    await publishUpdates(bus, ['a://b'])
    await turn()
    t.equal(sink.messages.length, 4)
    for (const { params } of sink.messages) t.strictSame(params._meta, { [META_SUBSCRIPTION_ID]: id })
  }
})

t.test('tells once what happens several times within one turn of the event loop', async (t) => {
  const { bus, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['a://1', 'a://2'] }, sink)
  for (let i = 0; i < 50; i++) {
    await bus.publish({ type: 'tools-changed' })
    await publishUpdates(bus, ['a://1', 'a://2'])
  }
  await turn()
  t.strictSame(sink.methods, [
    'notifications/tools/list_changed', 'notifications/resources/updated', 'notifications/resources/updated'
  ])
  t.strictSame(sink.uris, ['a://1', 'a://2'])
  await bus.publish({ type: 'tools-changed' })
  await turn()
  t.equal(sink.messages.length, 5, 'what happens later is told again')
})

t.test('holds what happens while the client does not read, once each, and tells it when the client reads ' +
  'again', async (t) => {
  const { bus, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['a://1'] }, sink)
  sink.isBlocked = true
  for (let i = 0; i < 3; i++) {
    await bus.publish({ type: 'tools-changed' })
    await publishUpdates(bus, ['a://1'])
    await turn()
  }
  t.strictSame(sink.methods, [])
  sink.unblock()
  t.strictSame(sink.methods, ['notifications/tools/list_changed', 'notifications/resources/updated'])
  sink.unblock()
  t.equal(sink.messages.length, 3, 'nothing is told twice')
})

t.test('a subscription to a directory hears of what is in it, by its own URI, and of nothing beside it ' +
  '(163)', async (t) => {
  const { bus, subscriptions } = build(t)
  const open = (uri: string) => {
    const sink = new FakeSink()
    listen(subscriptions, uri, { resourceSubscriptions: [uri] }, sink)
    return sink
  }
  const directory = open('file:///docs')
  const withSlash = open('file:///docs/')
  const file = open('file:///docs/a.md')
  await publishUpdates(bus, [
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

t.test('where events were missed, everything that was asked for counts as changed, and nothing else', async (
  t
) => {
  const { bus, subscriptions } = build(t)
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
  await bus.publish({ type: 'events-missed' })
  await turn()
  t.strictSame(everything.methods, [
    'notifications/tools/list_changed', 'notifications/prompts/list_changed', 'notifications/resources/list_changed',
    'notifications/resources/updated', 'notifications/resources/updated'
  ])
  t.strictSame(everything.uris, ['shop://a', 'file:///docs/'], 'by the URIs that it asked for')
  t.strictSame(tools.methods, ['notifications/tools/list_changed'])
  t.strictSame(nothing.methods, [])
})

t.test('what was missed and what happens besides is told once', async (t) => {
  const { bus, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['shop://a'] }, sink)
  sink.isBlocked = true
  for (const type of ['tools-changed', 'events-missed', 'events-missed'] as const) await bus.publish({ type })
  await publishUpdates(bus, ['shop://a'])
  await turn()
  sink.unblock()
  t.strictSame(sink.methods, ['notifications/tools/list_changed', 'notifications/resources/updated'])
})

t.test('a blocked stream holds no more than its filter, whatever happens (207)', async (t) => {
  const { bus, subscriptions } = build(t)
  const exact = new FakeSink()
  const directory = new FakeSink()
  listen(subscriptions, 'exact', { resourceSubscriptions: ['file:///docs/1', 'file:///docs/2'] }, exact)
  listen(subscriptions, 'directory', { resourceSubscriptions: ['file:///docs'] }, directory)
  exact.isBlocked = directory.isBlocked = true
  await publishUpdates(bus, Array.from({ length: 10_000 }, (_, index) => `file:///docs/${index}`))
  await turn()
  exact.unblock()
  directory.unblock()
  t.strictSame(exact.uris, ['file:///docs/1', 'file:///docs/2'])
  t.ok(directory.uris.length <= 1001, `${directory.uris.length} messages about one directory`)
  t.ok(directory.uris.includes('file:///docs'), 'past the limit the directory stands for what is in it')
  await publishUpdates(bus, ['file:///docs/3'])
  await turn()
  t.equal(directory.uris.at(-1), 'file:///docs/3', 'and then single resources are told again')
})

t.test('a reader that takes nothing for two keep-alive rounds is cut off, and the owner is told', async (
  t
) => {
  const slow: unknown[] = []
  const { subscriptions } = build(t, { keepAliveMs: 5, onSlowReader: (id) => { slow.push(id) } })
  const stuck = new FakeSink()
  const reading = new FakeSink()
  listen(subscriptions, 'stuck', {}, stuck)
  listen(subscriptions, 'reading', {}, reading)
  stuck.isBlocked = true
  await until(() => stuck.wasCut, 'the cut')
  t.strictSame(slow, ['stuck'])
  t.equal(stuck.keptAlive, 0, 'nothing more is written to it')
  await until(() => reading.keptAlive >= 5, 'five keep-alives')
  t.notOk(reading.wasCut)
  t.equal(subscriptions.size, 1)
  t.strictSame(slow, ['stuck'], 'it is told once')
})

t.test('a reader that lags but reads is not cut off', async (t) => {
  const { subscriptions } = build(t, { keepAliveMs: 5, onSlowReader: () => t.fail('it was reading') })
  const lagging = new FakeSink()
  const clock = new FakeSink()
  listen(subscriptions, 'lagging', {}, lagging)
  listen(subscriptions, 'clock', {}, clock)
  lagging.isBlocked = true
  let rounds = 0
  // Comes after the other in each round: that one is blocked whenever it is looked at, but reads between the
  // rounds.
  clock.keepAlive = () => {
    rounds++
    lagging.unblock()
    lagging.isBlocked = true
  }
  await until(() => rounds >= 6, 'six keep-alive rounds')
  t.notOk(lagging.wasCut)
})

t.test('streams with equal ids are independent (202, 203)', async (t) => {
  const { bus, subscriptions } = build(t)
  const [first, second] = [new FakeSink(), new FakeSink()]
  listen(subscriptions, 1, { toolsListChanged: true }, first)
  listen(subscriptions, 1, { promptsListChanged: true }, second)
  t.equal(subscriptions.size, 2)
  first.leave()
  t.equal(subscriptions.size, 1)
  await bus.publish({ type: 'tools-changed' })
  await bus.publish({ type: 'prompts-changed' })
  await turn()
  t.strictSame(first.methods, [], 'a client that is gone is told nothing')
  t.strictSame(second.methods, ['notifications/prompts/list_changed'])
})

t.test('a stream that ends with events pending is told nothing more', async (t) => {
  const { bus, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 1, { toolsListChanged: true }, sink)
  await bus.publish({ type: 'tools-changed' })
  sink.leave()
  await turn()
  t.strictSame(sink.methods, [])
})

t.test('tells thousands of streams, a part of them in each turn of the event loop', async (t) => {
  const { bus, subscriptions } = build(t)
  const sinks = Array.from({ length: 1200 }, () => new FakeSink())
  for (const [id, sink] of sinks.entries()) listen(subscriptions, id, { toolsListChanged: true }, sink)
  await bus.publish({ type: 'tools-changed' })
  await turn()
  const told = () => sinks.filter(({ methods }) => methods.length === 1).length
  t.ok(told() > 0 && told() < sinks.length, `${told()} in the first turn`)
  await until(() => told() === sinks.length, 'all of them')
})

t.test('is full at its limit, and not once a stream has left (207)', (t) => {
  const { subscriptions } = build(t, { maxStreams: 2 })
  const first = new FakeSink()
  listen(subscriptions, 1, {}, first)
  t.notOk(subscriptions.isFull)
  listen(subscriptions, 2, {}, new FakeSink())
  t.ok(subscriptions.isFull)
  first.leave()
  t.notOk(subscriptions.isFull)
  t.end()
})

t.test('closing tells what is pending and ends each stream with the result of its own request (204)', async (
  t
) => {
  const { bus, subscriptions } = build(t)
  const [text, number] = [new FakeSink(), new FakeSink()]
  listen(subscriptions, 'a', { toolsListChanged: true }, text)
  listen(subscriptions, 2, {}, number)
  await bus.publish({ type: 'tools-changed' })
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
  await bus.publish({ type: 'tools-changed' })
  await turn()
  t.equal(text.messages.length, 3)

  const late = new FakeSink()
  listen(subscriptions, 'late', { toolsListChanged: true }, late)
  t.match(late.messages, [
    { method: 'notifications/subscriptions/acknowledged' }, { id: 'late', result: { resultType: 'complete' } }
  ])
  t.ok(late.wasEnded, 'a stream that is opened afterwards is acknowledged and ended at once')
})
