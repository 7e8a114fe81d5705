// The recent changes, for clients that reconnect.

import t from 'tap'
import { RecentChanges } from '../../../../src/edges/legacy/sessions/recent-changes.ts'
import type { Broadcast } from '../../../../src/platform/store/changes/broadcast.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'

t.test('recent changes', async (t) => {
  let now = 1_000_000
  const broadcast: Broadcast = createLocalBroadcast()
  const changes = new RecentChanges(broadcast, { now: () => now })
  t.teardown(() => changes.close())
  const publish = async (uri: string) => await broadcast.publish({ type: 'resource-updated', uri })

  t.test('reports missed events for a time before the service began', async (t) => {
    t.strictSame(changes.since(now - 1), [{ type: 'events-missed' }])
    t.strictSame(changes.since(0), [{ type: 'events-missed' }])
  })

  t.test('include events shortly before the given time: replicas hear of them one by one', async (t) => {
    now += 60_000
    await publish('test:a')
    now += 60_000
    await publish('test:b')
    await new Promise(setImmediate)
    t.strictSame(changes.since(now), [{ type: 'resource-updated', uri: 'test:b' }])
    const both = ['test:a', 'test:b'].map((uri) => ({ type: 'resource-updated', uri }))
    t.strictSame(changes.since(now - 60_000), both)
    t.strictSame(changes.since(now + 10_000), [])
  })

  t.test('reports missed events if more than a thousand followed', async (t) => {
    now += 60_000
    for (let count = 0; count < 1001; count++) {
      now++
      await publish(`test:${count}`)
    }
    await new Promise(setImmediate)
    t.strictSame(changes.since(now - 10_000), [{ type: 'events-missed' }])
    t.equal(changes.since(now + 4999).length, 2)
  })
})
