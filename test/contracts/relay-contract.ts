// The contract of every relay. A new backend is done when its relay passes.

import type { Test } from 'tap'
import type { Relay, RelayMessage } from '../../src/store/changes/relay.ts'
import { until } from '../helpers/deadline.ts'

const numbered = (number: number): RelayMessage => ({ type: 'test-numbered', number })
const SETTLED = 'test-settled'

interface Listening { readonly heard: RelayMessage[], readonly stop: () => void }

/** @param create creates a new relay for each test. */
export function checkRelay (t: Test, create: () => Promise<Relay>): void {
  async function open (t: Test): Promise<Relay> {
    const relay = await create()
    t.teardown(async () => await relay.close())
    return relay
  }

  /** A listener that records its calls. */
  function listen (relay: Relay): Listening {
    const heard: RelayMessage[] = []
    const stop = relay.listen((message) => { if (message.type !== SETTLED) heard.push(message) })
    return { heard, stop }
  }

  /** The last message of a test. All messages before it have arrived when it arrives. */
  async function settle (relay: Relay): Promise<void> {
    let isSettled = false
    const stop = relay.listen(({ type }) => { if (type === SETTLED) isSettled = true })
    await relay.send({ type: SETTLED })
    await until(() => isSettled, 'the last message')
    stop()
  }

  t.test('every listener of the sender gets every message once, in order and at once', async (t) => {
    const relay = await open(t)
    const listeners = Array.from({ length: 3 }, () => listen(relay))
    const messages = Array.from({ length: 200 }, (_, index) => numbered(index))
    const sent = messages.map(async (message) => await relay.send(message))
    for (const { heard } of listeners) t.strictSame(heard, messages)
    await Promise.all(sent)
    await settle(relay)
    for (const { heard } of listeners) t.strictSame(heard, messages, 'and not once more')
  })

  t.test('a message is any JSON object with a type', async (t) => {
    const relay = await open(t)
    const { heard } = listen(relay)
    const messages: RelayMessage[] = [
      { type: '' },
      { type: 'Grüße 👋\n ?', text: '? ', empty: null, flag: false, number: -1.5e300 },
      { type: 'nested', a: { b: [1, { c: [] }] }, length: 1 },
      { type: 'long', text: 'x'.repeat(1_000_000) }
    ]
    for (const message of messages) await relay.send(message)
    await settle(relay)
    t.strictSame(heard, messages)
  })

  t.test('a listener gets no message from before it was added or after it was removed', async (t) => {
    const relay = await open(t)
    await relay.send(numbered(1))
    const { heard, stop } = listen(relay)
    await relay.send(numbered(2))
    await settle(relay)
    stop()
    stop()
    await relay.send(numbered(3))
    await settle(relay)
    t.strictSame(heard, [numbered(2)])
  })

  t.test('the same function may be added twice, and each is removed on its own', async (t) => {
    const relay = await open(t)
    let count = 0
    const hear = () => { count++ }
    const stopFirst = relay.listen(hear)
    relay.listen(hear)
    await relay.send(numbered(1))
    t.equal(count, 2)
    stopFirst()
    await relay.send(numbered(2))
    t.equal(count, 3)
  })

  t.test('if a listener throws, the others get the message and the sender gets the error', async (t) => {
    const relay = await open(t)
    const before = listen(relay)
    const stop = relay.listen(() => { throw new Error('a listener of the test fails') })
    const after = listen(relay)
    await t.rejects(relay.send(numbered(1)))
    stop()
    await relay.send(numbered(2))
    await settle(relay)
    for (const { heard } of [before, after]) t.strictSame(heard, [numbered(1), numbered(2)])
  })

  t.test('a listener that is added during a delivery gets the next message first', async (t) => {
    const relay = await open(t)
    const heard: string[] = []
    const stop = relay.listen(() => {
      heard.push('leaving')
      stop()
      relay.listen(() => { heard.push('late') })
    })
    await relay.send(numbered(1))
    t.strictSame(heard, ['leaving'])
    await relay.send(numbered(2))
    t.strictSame(heard, ['leaving', 'late'])
  })

  t.test('no listener is called for missed messages if none was missed', async (t) => {
    const relay = await open(t)
    let missed = 0
    relay.listen(() => {}, () => { missed++ })
    await relay.send(numbered(1))
    await settle(relay)
    t.equal(missed, 0)
  })

  t.test('the time goes forward, and is the same on each replica', async (t) => {
    const relays = [await open(t), await open(t), await open(t)]
    const times: number[] = []
    for (const relay of relays) times.push(await relay.time())
    t.ok(times.every(Number.isFinite))
    t.strictSame(times, times.toSorted((a, b) => a - b))
  })

  t.test('closing ends delivery and is idempotent, and sending afterwards does nothing', async (t) => {
    const relay = await create()
    const { heard } = listen(relay)
    await relay.send(numbered(1))
    await Promise.all([relay.close(), relay.close()])
    await relay.close()
    await t.resolves(relay.send(numbered(2)))
    const late = listen(relay)
    await t.resolves(relay.send(numbered(3)))
    t.strictSame(heard, [numbered(1)])
    t.strictSame(late.heard, [])
  })
}
