// The contract of every event bus. A new backend is done when its bus passes.

import type { Test } from 'tap'
import type { ChangeEvent } from '../../src/store/changes/change-event.ts'
import type { EventBus } from '../../src/store/changes/event-bus.ts'
import { until } from '../helpers/deadline.ts'

const updated = (uri: string) => ({ type: 'resource-updated', uri }) as const

/** @param create creates a new bus for each test. */
export function checkEventBus (t: Test, create: () => Promise<EventBus>): void {
  async function open (t: Test): Promise<EventBus> {
    const bus = await create()
    t.teardown(async () => await bus.close())
    return bus
  }

  /** A listener that records its calls. */
  function listen (bus: EventBus): { heard: ChangeEvent[], stop: () => void } {
    const heard: ChangeEvent[] = []
    return { heard, stop: bus.subscribe((event) => { heard.push(event) }) }
  }

  /** The last event of a test. All events before it have arrived when it arrives. */
  async function settle (bus: EventBus): Promise<void> {
    const { heard, stop } = listen(bus)
    await bus.publish(updated('test://settled'))
    await until(() => heard.length > 0, 'the last event')
    stop()
  }

  const told = (heard: readonly ChangeEvent[]) => heard.filter(
    (event) => event.type !== 'resource-updated' || event.uri !== 'test://settled'
  )

  t.test('every listener gets every event once, in the order of publication', async (t) => {
    const bus = await open(t)
    const listeners = Array.from({ length: 3 }, () => listen(bus))
    const events: ChangeEvent[] = [
      { type: 'tools-changed' }, { type: 'prompts-changed', seenBy: [['a', 'b'], ['c']] }, {
        type: 'resources-changed'
      }, updated('a://1'), updated('a://1'), { ...updated('a://2'), seenBy: [['a']] },
      { type: 'resources-outdated' }, { type: 'resources-outdated', templates: ['a://{id}'] }
    ]
    for (const event of events) await bus.publish(event)
    await settle(bus)
    for (const { heard } of listeners) t.strictSame(told(heard), events)
  })

  t.test('events that are published without waiting keep their order', async (t) => {
    const bus = await open(t)
    const { heard } = listen(bus)
    const events = Array.from({ length: 200 }, (_, index) => updated(`a://${index}`))
    await Promise.all(events.map(async (event) => await bus.publish(event)))
    await settle(bus)
    t.strictSame(told(heard), events)
  })

  t.test('a listener gets no event from before it subscribed or after it unsubscribed', async (t) => {
    const bus = await open(t)
    await bus.publish(updated('a://before'))
    await settle(bus)
    const { heard, stop } = listen(bus)
    await bus.publish(updated('a://during'))
    await settle(bus)
    stop()
    stop()
    await bus.publish(updated('a://after'))
    await settle(bus)
    t.strictSame(told(heard), [updated('a://during')])
  })

  t.test('the same function may subscribe twice, and each subscription ends on its own', async (t) => {
    const bus = await open(t)
    const heard: ChangeEvent[] = []
    const hear = (event: ChangeEvent) => { heard.push(event) }
    const stopFirst = bus.subscribe(hear)
    bus.subscribe(hear)
    await bus.publish(updated('a://1'))
    await settle(bus)
    t.equal(told(heard).length, 2)
    stopFirst()
    await bus.publish(updated('a://2'))
    await settle(bus)
    t.equal(told(heard).length, 3)
  })

  t.test('if a listener throws, the others get the event and the publisher gets the error', async (t) => {
    const bus = await open(t)
    const before = listen(bus)
    const stop = bus.subscribe(() => { throw new Error('a listener of the test fails') })
    const after = listen(bus)
    await t.rejects(bus.publish({ type: 'tools-changed' }))
    stop()
    await bus.publish({ type: 'prompts-changed' })
    await settle(bus)
    for (const { heard } of [before, after]) {
      t.strictSame(told(heard), [{ type: 'tools-changed' }, { type: 'prompts-changed' }])
    }
  })

  t.test('listeners may be removed and added while an event is delivered', async (t) => {
    const bus = await open(t)
    const heard: string[] = []
    const stop = bus.subscribe(() => {
      heard.push('leaving')
      stop()
      bus.subscribe(() => { heard.push('late') })
    })
    const { heard: steady } = listen(bus)
    await bus.publish({ type: 'tools-changed' })
    await until(() => steady.length === 1, 'the event')
    t.strictSame(heard, ['leaving'], 'who comes during an event hears from the next one on')
    await bus.publish({ type: 'tools-changed' })
    await until(() => steady.length === 2, 'the second event')
    t.strictSame(heard, ['leaving', 'late'])
  })

  t.test('ten thousand listeners get an event', async (t) => {
    const bus = await open(t)
    let count = 0
    for (let i = 0; i < 10_000; i++) bus.subscribe(() => { count++ })
    await bus.publish({ type: 'tools-changed' })
    await until(() => count >= 10_000, 'all of them')
    t.equal(count, 10_000)
  })

  t.test('closing ends delivery and is idempotent, and publishing afterwards does nothing', async (t) => {
    const bus = await create()
    const { heard, stop } = listen(bus)
    await bus.publish({ type: 'tools-changed' })
    await until(() => heard.length === 1, 'the event')
    await Promise.all([bus.close(), bus.close()])
    await bus.close()
    await t.resolves(bus.publish({ type: 'prompts-changed' }))
    const late = listen(bus)
    await t.resolves(bus.publish({ type: 'prompts-changed' }))
    stop()
    t.strictSame(heard, [{ type: 'tools-changed' }])
    t.strictSame(late.heard, [])
  })
}
