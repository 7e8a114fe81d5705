import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { ScopeGroup } from '../../../../src/platform/access/principal.ts'
import { build, FakeSink, listen, publishUpdates } from './fake-sink.ts'

const ALL = { toolsListChanged: true, resourceSubscriptions: ['doc://hidden', 'doc://open', 'doc://'] }

/** Holds these scopes, and may not hear of resources whose URI has the word `hidden`. */
function scopeGroupOf (scopes: readonly string[]): ScopeGroup & { asked: number } {
  const scopeGroup = {
    asked: 0,
    holds (needed: readonly string[]) {
      scopeGroup.asked++
      return needed.every((scope) => scopes.includes(scope))
    },
    mayHearOf (uri: string) {
      scopeGroup.asked++
      return !uri.includes('hidden')
    }
  }
  return scopeGroup
}

t.test('a change of a list is told only to callers who see it (107, 198)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sinks = ['', 'a', 'b', 'a b'].map((scopes) => {
    const sink = new FakeSink()
    listen(subscriptions, scopes, ALL, sink, scopeGroupOf(scopes.split(' ')))
    return sink
  })
  const counts = async () => {
    await turn()
    return sinks.map(({ methods }) => methods.length).join()
  }
  await broadcast.publish({ type: 'tools-changed', seenBy: [['a', 'b']] })
  t.equal(await counts(), '0,0,0,1')
  await broadcast.publish({ type: 'tools-changed', seenBy: [['b'], ['c']] })
  t.equal(await counts(), '0,0,1,2')
  await broadcast.publish({ type: 'tools-changed' })
  t.equal(await counts(), '1,1,2,3')
})

t.test('an update is told only to callers who may hear of the resource (162, 163)', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 1, ALL, sink, scopeGroupOf([]))
  await publishUpdates(broadcast, ['doc://hidden', 'doc://hidden/1', 'doc://open', 'doc://open/1'])
  await turn()
  t.strictSame(sink.uris, ['doc://open', 'doc://open/1'])
})

t.test('after an interruption every stream is told all that it follows', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const sink = new FakeSink()
  listen(subscriptions, 1, ALL, sink, scopeGroupOf([]))
  await broadcast.publish({ type: 'events-missed' })
  await turn()
  t.strictSame(sink.uris, ALL.resourceSubscriptions)
})

t.test('decides once for all streams of callers with the same scopes', async (t) => {
  const { broadcast, subscriptions } = build(t)
  const scopeGroups = [scopeGroupOf(['a']), scopeGroupOf([])]
  for (let index = 0; index < 1000; index++) {
    listen(subscriptions, index, ALL, new FakeSink(), scopeGroups[index % 2])
  }
  await broadcast.publish({ type: 'tools-changed', seenBy: [['a']] })
  await broadcast.publish({ type: 'resource-updated', uri: 'doc://open' })
  await broadcast.publish({ type: 'resource-updated', uri: 'none://1' })
  t.strictSame(scopeGroups.map(({ asked }) => asked), [2, 2], 'and not for a resource that nobody follows')
})
