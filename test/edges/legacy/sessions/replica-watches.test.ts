import t, { type Test } from 'tap'
import {
  createCallStreams, readEventId, STREAM_END
} from '../../../../src/edges/legacy/sessions/call-streams.ts'
import {
  createReplicaWatches, type ReplicaWatches
} from '../../../../src/edges/legacy/sessions/replica-watches.ts'
import { createLocalEventLog } from '../../../../src/platform/store/changes/event-log.ts'
import { EVENT_LOG_LIMITS, type EventLog } from '../../../../src/platform/store/changes/event-log.ts'
import { until } from '../../../helpers/deadline.ts'
import { SESSION } from '../../../helpers/negotiated-session.ts'
import { createLocalSessionMessages } from '../../../helpers/session-messages.ts'

const PING_EVERY_MS = 30

interface Resumable {
  readonly watches: ReplicaWatches
  /** The stream of two calls, one of which is answered. */
  readonly stream: string
  /** How often the replica that serves the stream was pinged. */
  readonly pings: () => number
  readonly errors: unknown[]
  /** Ends the replica that serves the stream. */
  kill (): void
  texts (): Promise<string[]>
}

async function openStream (
  t: Test, wrap = (log: EventLog): EventLog => log
): Promise<Resumable> {
  const messages = createLocalSessionMessages()
  const memory = createLocalEventLog(EVENT_LOG_LIMITS)
  const errors: unknown[] = []
  const onError = (error: unknown) => { errors.push(error) }
  let pings = 0
  messages.listen(({ type }) => { if (type === 'stream-followed') pings++ })
  const served = createCallStreams(memory, messages, onError)
  const watches = createReplicaWatches({
    eventLog: wrap(memory), messages, onError, pingEveryMs: PING_EVERY_MS
  })
  t.teardown(async () => {
    served.close()
    watches.close()
    await memory.close()
  })
  const call = served.create(SESSION, [1, 'two'], { scopes: new Set(['a']) })
  call.write('{"jsonrpc":"2.0","id":1,"result":{}}')
  const { stream = '' } = readEventId(call.openingId, SESSION) ?? {}
  const texts = async () => (await memory.read(stream, 0) ?? []).map(({ text }) => text)
  return { watches, stream, pings: () => pings, errors, kill: served.close, texts }
}

const isEnded = (texts: readonly string[]) => texts.at(-1) === STREAM_END

t.test('a replica that does not answer is lost: its open request gets an error', async (t) => {
  const { watches, stream, kill, texts, pings, errors } = await openStream(t)
  kill()
  let told = 0
  watches.follow(stream, () => { told++ })
  await until(async () => isEnded(await texts()), 'the end of the stream')
  const [, , error = '', ...rest] = await texts()
  t.match(JSON.parse(error), { id: 'two', error: { message: /replica that served this request is gone/ } })
  t.strictSame(rest, [STREAM_END])
  t.equal(told, pings(), 'the follower reads the log at each ping')
  t.strictSame(errors, [])
})

t.test('clients that come and go do not delay the loss', async (t) => {
  const { watches, stream, kill, texts, pings } = await openStream(t)
  kill()
  const leave = watches.follow(stream, () => {})
  await until(() => pings() > 1, 'an unanswered ping')
  leave()
  for (let time = 0; time < 100; time++) watches.follow(stream, () => {})()
  await until(async () => isEnded(await texts()), 'the end of the stream, without a client')
  t.ok(pings() < 10, 'no client causes a ping of its own')
})

t.test('a replica that answers is not lost, and is pinged only while a client follows', async (t) => {
  const { watches, stream, texts, pings } = await openStream(t)
  const leave = watches.follow(stream, () => {})
  await until(() => pings() > 8, 'more pings than a lost replica may leave unanswered')
  leave()
  const before = pings()
  // The one watch ends at the latest with the answer to its next ping.
  const other = await openStream(t)
  other.watches.follow(other.stream, () => {})
  await until(() => other.pings() > 5, 'as many pings of another stream')
  t.ok(pings() <= before + 1)
  t.notOk(isEnded(await texts()))
})

t.test('the end is logged later if the log cannot be reached', async (t) => {
  let refused = 0
  const { watches, stream, kill, texts, errors } = await openStream(t, (log) => ({
    ...log,
    async read (id, after) {
      if (refused++ < 2) throw new Error('the log is away')
      return await log.read(id, after)
    }
  }))
  kill()
  watches.follow(stream, () => {})
  await until(() => errors.length === 2, 'the errors')
  await until(async () => isEnded(await texts()), 'the end of the stream')
})
