import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../../helpers/deadline.ts'
import { build, FakeSink, listen, publishUpdates } from './fake-sink.ts'

t.test('keeps notifications while the client does not read, and sends each once afterwards', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['a://1'] }, sink)
  sink.isBlocked = true
  for (let i = 0; i < 3; i++) {
    await broadcast.publish({ type: 'tools-changed' })
    await publishUpdates(broadcast, ['a://1'])
    await turn()
  }
  t.strictSame(sink.methods, [])
  sink.unblock()
  await turn()
  t.strictSame(sink.methods, ['notifications/tools/list_changed', 'notifications/resources/updated'])
  sink.unblock()
  await turn()
  t.equal(sink.messages.length, 3, 'nothing is told twice')
})

t.test('missed events and later ones are reported once', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 's', { toolsListChanged: true, resourceSubscriptions: ['shop://a'] }, sink)
  sink.isBlocked = true
  const types = ['tools-changed', 'events-missed', 'events-missed'] as const
  for (const type of types) await broadcast.publish({ type })
  await publishUpdates(broadcast, ['shop://a'])
  await turn()
  sink.unblock()
  await turn()
  t.strictSame(sink.methods, ['notifications/tools/list_changed', 'notifications/resources/updated'])
})

t.test('a blocked stream keeps no more than its filter includes (207)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const exact = new FakeSink()
  const directory = new FakeSink()
  listen(subscriptions, 'exact', { resourceSubscriptions: ['file:///docs/1', 'file:///docs/2'] }, exact)
  listen(subscriptions, 'directory', { resourceSubscriptions: ['file:///docs'] }, directory)
  exact.isBlocked = directory.isBlocked = true
  await publishUpdates(broadcast, Array.from({ length: 10_000 }, (_, index) => `file:///docs/${index}`))
  await turn()
  exact.unblock()
  directory.unblock()
  await turn()
  t.strictSame(exact.uris, ['file:///docs/1', 'file:///docs/2'])
  t.ok(directory.uris.length <= 1001, `${directory.uris.length} messages about one directory`)
  t.ok(directory.uris.includes('file:///docs'), 'past the limit the directory stands for what is in it')
  await publishUpdates(broadcast, ['file:///docs/3'])
  await turn()
  t.equal(directory.uris.at(-1), 'file:///docs/3', 'and then single resources are told again')
})

t.test('clients that read again at the same time are served over several turns', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sinks = Array.from({ length: 2000 }, () => new FakeSink())
  for (const [id, sink] of sinks.entries()) {
    listen(subscriptions, id, { resourceSubscriptions: ['file:///docs'] }, sink)
    sink.isBlocked = true
  }
  await publishUpdates(broadcast, ['file:///docs/1', 'file:///docs/2'])
  await turn()
  for (const sink of sinks) sink.unblock()
  const served = () => sinks.filter(({ uris }) => uris.length === 2).length
  t.equal(served(), 0)
  await turn()
  t.ok(served() <= 500, `${served()} in one turn`)
  await until(() => served() === sinks.length, 'the notifications')
})

t.test('a stream that is blocked for two keep-alive rounds is closed and reported', async (t) => {
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

t.test('a slow client that still reads is not disconnected', async (t) => {
  const { subscriptions } = build(t, { keepAliveMs: 5, onSlowReader: () => t.fail('it was reading') })
  const lagging = new FakeSink()
  const clock = new FakeSink()
  listen(subscriptions, 'lagging', {}, lagging)
  listen(subscriptions, 'clock', {}, clock)
  lagging.isBlocked = true
  let rounds = 0
  // This stream comes second in each round. The first stream is blocked in each round, but reads in between.
  clock.keepAlive = () => {
    rounds++
    lagging.unblock()
    lagging.isBlocked = true
  }
  await until(() => rounds >= 6, 'six keep-alive rounds')
  t.notOk(lagging.wasCut)
})
