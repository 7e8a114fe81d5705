// The contract of every broadcast. A new backend is done when its broadcast passes.

import type { Test } from 'tap'
import type { Broadcast, ReplicaMessage } from '../../src/platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../src/platform/store/changes/change-event.ts'
import { until } from '../helpers/deadline.ts'

/** What a broadcast carries: change events, or messages. */
interface Cargo<T> {
  readonly name: string
  toItem (number: number): T
  send (broadcast: Broadcast, item: T): Promise<void>
  listen (broadcast: Broadcast, listener: (item: T) => void): () => void
}

const updated = (uri: string) => ({ type: 'resource-updated', uri }) as const

const EVENTS: Cargo<ChangeEvent> = {
  name: 'event',
  toItem: (number) => updated(`a://${number}`),
  send: async (broadcast, event) => await broadcast.publish(event),
  listen: (broadcast, listener) => broadcast.subscribe(listener)
}

const MESSAGES: Cargo<ReplicaMessage> = {
  name: 'message',
  toItem: (number) => ({ type: 'test-numbered', number }),
  send: async (broadcast, message) => await broadcast.send(message),
  listen: (broadcast, listener) => broadcast.listen(listener)
}

type Create = () => Promise<Broadcast>

/** @param create creates a new broadcast for each test. */
export function checkBroadcast (t: Test, create: Create): void {
  checkCargo(t, EVENTS, create)
  checkCargo(t, MESSAGES, create)

  t.test('every listener gets each type of event', async (t) => {
    const broadcast = await open(t, create)
    const { listen, send, settle } = use(broadcast, EVENTS)
    const listeners = Array.from({ length: 3 }, () => listen())
    const events: ChangeEvent[] = [
      { type: 'tools-changed' }, { type: 'prompts-changed', seenBy: [['a', 'b'], ['c']] },
      { type: 'resources-changed' }, updated('a://1'), updated('a://1'), { ...updated('a://2'), seenBy: [['a']] },
      { type: 'resources-outdated' }, { type: 'resources-outdated', templates: ['a://{id}'] },
      { ...updated('a://3'), owner: 'o' }, { type: 'task-changed', entry: 'o/n', isOver: true },
      { type: 'task-changed', entry: 'o/n', isOver: true, run: 2 }
    ]
    for (const event of events) await send(event)
    await settle()
    for (const { heard } of listeners) t.strictSame(heard, events)
  })

  t.test('a message is any JSON object with a type', async (t) => {
    const broadcast = await open(t, create)
    const { listen, send, settle } = use(broadcast, MESSAGES)
    const { heard } = listen()
    const messages: ReplicaMessage[] = [
      { type: '' },
      { type: 'Grüße 👋\n ?', text: '? ', empty: null, flag: false, number: -1.5e300 },
      { type: 'nested', a: { b: [1, { c: [] }] }, length: 1 },
      { type: 'tools-changed', event: {}, message: {}, missed: ['event'] },
      { type: 'long', text: 'x'.repeat(1_000_000) }
    ]
    for (const message of messages) await send(message)
    await settle()
    t.strictSame(heard, messages)
  })

  t.test('no event is a message, and no message is an event', async (t) => {
    const broadcast = await open(t, create)
    const [events, messages] = [use(broadcast, EVENTS), use(broadcast, MESSAGES)]
    const [{ heard: heardEvents }, { heard: heardMessages }] = [events.listen(), messages.listen()]
    await events.send({ type: 'tools-changed' })
    await messages.send({ type: 'tools-changed' })
    await messages.send({ type: 'prompts-changed' })
    await events.settle()
    await messages.settle()
    t.strictSame(heardEvents, [{ type: 'tools-changed' }])
    t.strictSame(heardMessages, [{ type: 'tools-changed' }, { type: 'prompts-changed' }])
  })

  t.test('no listener is told that it missed something if nothing was missed', async (t) => {
    const broadcast = await open(t, create)
    let missed = 0
    broadcast.listen(() => {}, () => { missed++ })
    broadcast.subscribe(({ type }) => { if (type === 'events-missed') missed++ })
    await use(broadcast, MESSAGES).send(MESSAGES.toItem(1))
    await use(broadcast, MESSAGES).settle()
    await use(broadcast, EVENTS).settle()
    t.equal(missed, 0)
  })

  t.test('the time goes forward, and is the same on each replica', async (t) => {
    const broadcasts = [await open(t, create), await open(t, create), await open(t, create)]
    const times: number[] = []
    for (const broadcast of broadcasts) times.push(await broadcast.time())
    t.ok(times.every(Number.isFinite))
    t.strictSame(times, times.toSorted((a, b) => a - b))
  })
}

/** The claims that hold for both kinds of cargo. */
function checkCargo<T> (t: Test, cargo: Cargo<T>, create: Create): void {
  const { name, toItem } = cargo

  t.test(`every listener of the sender gets every ${name} once, in order and at once`, async (t) => {
    const { listen, send, settle } = use(await open(t, create), cargo)
    const listeners = Array.from({ length: 3 }, () => listen())
    const items = Array.from({ length: 200 }, (_, index) => toItem(index))
    const sent = items.map(send)
    for (const { heard } of listeners) t.strictSame(heard, items)
    await Promise.all(sent)
    await settle()
    for (const { heard } of listeners) t.strictSame(heard, items, 'and not once more')
  })

  t.test(`a listener gets no ${name} from before it was added or after it was removed`, async (t) => {
    const { listen, send, settle } = use(await open(t, create), cargo)
    await send(toItem(1))
    await settle()
    const { heard, stop } = listen()
    await send(toItem(2))
    await settle()
    stop()
    stop()
    await send(toItem(3))
    await settle()
    t.strictSame(heard, [toItem(2)])
  })

  t.test(`the same function may be added twice for each ${name}, and is removed once at a time`, async (t) => {
    const broadcast = await open(t, create)
    const { listen, send, settle } = use(broadcast, cargo)
    const { heard, hear, stop } = listen()
    cargo.listen(broadcast, hear)
    await send(toItem(1))
    await settle()
    t.equal(heard.length, 2)
    stop()
    await send(toItem(2))
    await settle()
    t.equal(heard.length, 3)
  })

  t.test(`if a listener throws, the others get the ${name} and the sender gets the error`, async (t) => {
    const broadcast = await open(t, create)
    const { listen, send, settle } = use(broadcast, cargo)
    const before = listen()
    const stop = cargo.listen(broadcast, () => { throw new Error('a listener of the test fails') })
    const after = listen()
    await t.rejects(send(toItem(1)))
    stop()
    await send(toItem(2))
    await settle()
    for (const { heard } of [before, after]) t.strictSame(heard, [toItem(1), toItem(2)])
  })

  t.test(`a listener that is added while a ${name} is delivered gets the next one first`, async (t) => {
    const broadcast = await open(t, create)
    const { listen, send } = use(broadcast, cargo)
    const heard: string[] = []
    const stop = cargo.listen(broadcast, () => {
      heard.push('leaving')
      stop()
      cargo.listen(broadcast, () => { heard.push('late') })
    })
    const { heard: steady } = listen()
    await send(toItem(1))
    t.strictSame(heard, ['leaving'])
    t.equal(steady.length, 1)
    await send(toItem(2))
    t.strictSame(heard, ['leaving', 'late'])
    t.equal(steady.length, 2)
  })

  t.test(`ten thousand listeners get a ${name}`, async (t) => {
    const broadcast = await open(t, create)
    let count = 0
    for (let i = 0; i < 10_000; i++) cargo.listen(broadcast, () => { count++ })
    await use(broadcast, cargo).send(toItem(1))
    t.equal(count, 10_000)
  })

  t.test(`after closing, which is idempotent, sending a ${name} does nothing`, async (t) => {
    const broadcast = await create()
    const { listen, send } = use(broadcast, cargo)
    const { heard, stop } = listen()
    await send(toItem(1))
    await Promise.all([broadcast.close(), broadcast.close()])
    await broadcast.close()
    await t.resolves(send(toItem(2)))
    const late = listen()
    await t.resolves(send(toItem(3)))
    stop()
    t.strictSame(heard, [toItem(1)])
    t.strictSame(late.heard, [])
  })
}

async function open (t: Test, create: Create): Promise<Broadcast> {
  const broadcast = await create()
  t.teardown(async () => await broadcast.close())
  return broadcast
}

function use<T> (broadcast: Broadcast, { toItem, send, listen }: Cargo<T>) {
  const last = JSON.stringify(toItem(-1))
  const isLast = (item: T) => JSON.stringify(item) === last
  return {
    send: async (item: T) => await send(broadcast, item),
    /** A listener that records its calls. */
    listen () {
      const heard: T[] = []
      const hear = (item: T) => { if (!isLast(item)) heard.push(item) }
      return { heard, hear, stop: listen(broadcast, hear) }
    },
    /** Sends the last item of a test. All items before it have arrived when it arrives. */
    async settle () {
      let isSettled = false
      const stop = listen(broadcast, (item) => { isSettled ||= isLast(item) })
      await send(broadcast, toItem(-1))
      await until(() => isSettled, 'the last item')
      stop()
    }
  }
}
