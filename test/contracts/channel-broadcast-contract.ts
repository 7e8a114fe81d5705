// The contract of every broadcast over a channel of a server. It comes in addition to that of all broadcasts.

import type { Test } from 'tap'
import type { Broadcast } from '../../src/platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../src/platform/store/changes/change-event.ts'
import { until, within } from '../helpers/deadline.ts'
import type { StoppableServer } from '../servers/stoppable-server.ts'
import { hearEvents, hearMessages, isMissed, isUpdate, numbered, updated } from './broadcast-listeners.ts'

type OnError = (error: unknown) => void

/** The broadcast of one replica. */
export interface BroadcastReplica {
  readonly broadcast: Broadcast
  /** Runs this work while the broadcast cannot send. */
  whileCut (work: () => Promise<unknown>): Promise<void>
}

export interface ChannelBackend<S extends StoppableServer> {
  /** The name of the channel, in errors. */
  readonly channel: string
  /** The message of the error when the server hangs. */
  readonly silence: RegExp
  startServer (t: Test): Promise<S>
  open (t: Test, server: S, onError?: OnError): Promise<BroadcastReplica>
  /** Passes texts on as another release would. */
  sendTexts (server: S, texts: readonly string[]): Promise<void>
}

const EVENTS: readonly ChangeEvent[] = [
  { type: 'tools-changed' }, { type: 'prompts-changed', seenBy: [['a', 'b'], ['c']] },
  { type: 'resources-outdated' }, { type: 'resources-outdated', templates: ['a://{id}'] }, updated(1),
  { type: 'resource-updated', uri: 'a://2', owner: 'o', seenBy: [['a']] },
  { type: 'task-changed', entry: 'o/n', isOver: true }, { type: 'resources-changed' },
  { type: 'task-changed', entry: 'o/n', isOver: false, run: 7 }
]
const NO_EVENTS = [
  '', 'canary', 'null', '["canary"]', '{"canary":{}}', '{"event":"canary"}', '{"event":null}',
  '{"event":{"type":"canary"}}', '{"missed":"canary"}', '{"missed":[1]}',
  '{"event":{"type":"resource-updated","uri":{"canary":1}}}',
  '{"event":{"type":"tools-changed","seenBy":["canary"]}}',
  '{"event":{"type":"tools-changed","seenBy":[["canary",1]]}}',
  '{"event":{"type":"resources-outdated","templates":["canary",1]}}'
]
const NO_MESSAGES = [
  '"canary"', '{"message":"canary"}', '{"message":null}', '{"message":["canary"]}',
  '{"message":{"canary":1}}', '{"message":{"type":{"canary":1}}}'
]

const fail = () => { throw new Error('a listener of the test fails') }

/** @param server started by the backend, for the tests that do not take it away. */
export function checkChannelBroadcast<S extends StoppableServer> (
  t: Test, server: S, backend: ChannelBackend<S>
): void {
  checkDelivery(t, server, backend)
  checkOutages(t, server, backend)
  checkTexts(t, server, backend)
  checkFailingListeners(t, server, backend)

  t.test('the time is that of the server', async (t) => {
    const { broadcast } = await backend.open(t, server)
    t.ok(Math.abs(await broadcast.time() - Date.now()) < 5000)
  })
}

function checkDelivery<S extends StoppableServer> (
  t: Test, server: S, { open }: ChannelBackend<S>
): void {
  t.test('each event reaches every replica once, in order', async (t) => {
    const [here, there] = await openTwo(t, server, open)
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const events = Array.from({ length: 100 }, (_, index) => updated(index))
    for (const event of events) await here.publish(event)
    await there.publish({ type: 'tools-changed' })
    await until(() => heardHere.length > 100 && heardThere.length > 100, 'all events')
    t.strictSame(heardHere, [...events, { type: 'tools-changed' }])
    t.strictSame(heardThere.filter(isUpdate), events)
    t.equal(heardThere.length, 101)
  })

  t.test('three replicas that send at once lose and repeat no message', async (t) => {
    const replicas = await Promise.all([1, 2, 3].map(async () => (await open(t, server)).broadcast))
    const heard = replicas.map((replica) => hearMessages(replica).heard)
    await Promise.all(replicas.flatMap((replica, index) => Array.from(
      { length: 200 }, async (_, number) => await replica.send({ type: `of-${index}`, number })
    )))
    await until(() => heard.every(({ length }) => length >= 600), 'all messages')
    for (const messages of heard) {
      t.equal(messages.length, 600)
      for (const index of [0, 1, 2]) {
        const numbers = messages.filter(({ type }) => type === `of-${index}`).map(({ number }) => number)
        t.strictSame(numbers, Array.from({ length: 200 }, (_, number) => number))
      }
    }
  })

  t.test('each type of event arrives elsewhere as it was published', async (t) => {
    const [here, there] = await openTwo(t, server, open)
    const heard = hearEvents(there)
    for (const event of EVENTS) await here.publish(event)
    await until(() => heard.length === EVENTS.length, 'all events')
    t.strictSame(heard, EVENTS)
  })
}

function checkOutages<S extends StoppableServer> (
  t: Test, server: S, { startServer, open, silence }: ChannelBackend<S>
): void {
  t.test('after an outage listeners get events-missed, then events', { timeout: 60_000 }, async (t) => {
    const own = await startServer(t)
    const [here, there] = await openTwo(t, own, open)
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    t.equal(here.isConnected, true)
    await own.kill()
    await until(() => !here.isConnected && !there.isConnected, 'both to notice the outage')
    await within(here.publish({ type: 'prompts-changed' }), 'publishing without a server')
    t.strictSame(heardHere, [{ type: 'prompts-changed' }], 'its own replica is told all the same')
    await own.restart()
    await until(() => heardHere.some(isMissed) && heardThere.some(isMissed), 'both to hear of it', 10_000)
    await until(() => here.isConnected && there.isConnected, 'both to be connected')
    await here.publish(updated(1))
    await until(() => heardThere.some(isUpdate), 'an event after the outage')
  })

  t.test('without a server sending rejects, and later listeners are told', { timeout: 60_000 }, async (t) => {
    const own = await startServer(t)
    const [here, there] = await openTwo(t, own, open)
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    await own.kill()
    await t.rejects(within(here.send(numbered(1)), 'an answer without a server', 2500))
    t.strictSame(hears.heard, [numbered(1)], 'its own replica has it all the same')
    await own.restart()
    await until(() => hears.missed() > 0 && hearsThere.missed() > 0, 'both to be told', 10_000)
    await here.send(numbered(2))
    await until(() => hearsThere.heard.length > 0, 'a message after the outage')
    t.strictSame(hearsThere.heard, [numbered(2)])
  })

  t.test('publishing to a hanging server reports the error, and resolves', { timeout: 60_000 }, async (t) => {
    const own = await startServer(t)
    const errors: unknown[] = []
    const { broadcast: here } = await open(t, own, (error) => { errors.push(error) })
    const { broadcast: there } = await open(t, own)
    const heard = hearEvents(there)
    own.freeze()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    t.match(errors[0], { message: silence })
    own.thaw()
    await until(() => heard.some(isMissed), 'the other replica to hear of it', 10_000)
  })

  t.test('a message that could not be sent: replicas that were connected are told', async (t) => {
    const { broadcast: here, whileCut } = await open(t, server)
    const { broadcast: there } = await open(t, server)
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    const events = hearEvents(there)
    for (let time = 1; time <= 2; time++) {
      await whileCut(async () => await t.rejects(here.send(numbered(time))))
      await until(() => hearsThere.missed() === time, 'the other to be told')
    }
    t.strictSame(hearsThere.heard, [])
    t.equal(hears.missed(), 0, 'the sender missed nothing')
    await here.send(numbered(3))
    await until(() => hearsThere.heard.length > 0, 'a message afterwards')
    t.strictSame(hearsThere.heard, [numbered(3)])
    t.strictSame(events, [], 'no event was missed')
  })

  t.test('an event that could not be sent: replicas that were connected are told', async (t) => {
    const { broadcast: here, whileCut } = await open(t, server)
    const { broadcast: there } = await open(t, server)
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const { missed } = hearMessages(there)
    await whileCut(async () => await here.publish(updated(1)))
    await until(() => heardThere.length > 0, 'the other to be told')
    t.strictSame(heardThere, [{ type: 'events-missed' }])
    t.strictSame(heardHere, [updated(1)])
    t.equal(missed(), 0, 'no message was missed')
  })
}

function checkTexts<S extends StoppableServer> (
  t: Test, server: S, { open, sendTexts, channel }: ChannelBackend<S>
): void {
  const areUnreadable = (t: Test, errors: readonly unknown[], count: number) => {
    t.equal(errors.length, count)
    for (const error of errors) {
      t.match(error, { name: 'TypeError' })
      t.ok(String(error).startsWith(`TypeError: a message on ${channel} `), String(error))
      t.notMatch(String(error), /canary/)
    }
  }

  t.test('a text that is no event is reported without its content, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const { broadcast } = await open(t, server, (error) => { errors.push(error) })
    const heard = hearEvents(broadcast)
    await sendTexts(server, [...NO_EVENTS, '{"event":{"type":"tools-changed"}}'])
    await until(() => heard.length > 0, 'the event after them')
    t.strictSame(heard, [{ type: 'tools-changed' }])
    areUnreadable(t, errors, NO_EVENTS.length)
  })

  t.test('a text that is no message is reported without its content, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const { broadcast } = await open(t, server, (error) => { errors.push(error) })
    const { heard } = hearMessages(broadcast)
    await sendTexts(server, [...NO_MESSAGES, '{"message":{"type":"of a later release","more":[1]}}'])
    await until(() => heard.length > 0, 'the message after them')
    t.strictSame(heard, [{ type: 'of a later release', more: [1] }])
    areUnreadable(t, errors, NO_MESSAGES.length)
  })

  t.test('a message that is not JSON is refused before any listener gets it', async (t) => {
    const { broadcast } = await open(t, server)
    const { heard } = hearMessages(broadcast)
    let nested: unknown = []
    for (let depth = 0; depth < 10_000; depth++) nested = [nested]
    await t.rejects(broadcast.send({ type: 'nested', nested }), RangeError)
    t.strictSame(heard, [])
  })
}

function checkFailingListeners<S extends StoppableServer> (
  t: Test, server: S, { open }: ChannelBackend<S>
): void {
  t.test('a listener that throws affects no listener and no publisher elsewhere', async (t) => {
    const errors: unknown[] = []
    const { broadcast: here } = await open(t, server)
    const { broadcast: there } = await open(t, server, (error) => { errors.push(error) })
    here.subscribe(fail)
    there.subscribe(fail)
    const heard = hearEvents(there)
    await t.rejects(here.publish(updated(1)))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
    t.match(errors, [{ name: 'AggregateError' }])
  })

  t.test('a listener that throws affects neither other replicas nor their senders', async (t) => {
    const errors: unknown[] = []
    const { broadcast: here } = await open(t, server)
    const { broadcast: there } = await open(t, server, (error) => { errors.push(error) })
    const stop = here.listen(fail)
    there.listen(fail)
    const { heard } = hearMessages(there)
    await t.rejects(here.send(numbered(1)))
    stop()
    await t.resolves(here.send(numbered(2)))
    await until(() => heard.length === 2, 'both messages')
    t.strictSame(heard, [numbered(1), numbered(2)])
    t.match(errors, [{ name: 'AggregateError' }, { name: 'AggregateError' }])
  })
}

async function openTwo<S extends StoppableServer> (
  t: Test, server: S, open: ChannelBackend<S>['open']
): Promise<[here: Broadcast, there: Broadcast]> {
  return [(await open(t, server)).broadcast, (await open(t, server)).broadcast]
}
