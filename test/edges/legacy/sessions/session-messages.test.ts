// The messages about sessions between replicas, and messages of unknown types or shapes.

import t, { type Test } from 'tap'
import {
  SessionMessages, type SessionMessage
} from '../../../../src/edges/legacy/sessions/session-messages.ts'
import type { Broadcast, ReplicaMessage } from '../../../../src/platform/store/changes/broadcast.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'

const MESSAGES: readonly SessionMessage[] = [
  { type: 'session-ended', session: 'a', expiresAt: 1 },
  { type: 'session-changed', session: 'a', settings: { version: 1, uris: [] } },
  { type: 'session-changed', session: 'a', settings: { version: 2, logLevel: 'error', uris: ['test:a'] } },
  { type: 'stream-opened', session: 'a', openedAt: 1.5 },
  { type: 'call-cancelled', session: 'a', request: 1 },
  { type: 'call-cancelled', session: 'a', request: '1' },
  { type: 'answered', session: 'a', request: 'r', response: { result: {} } },
  { type: 'answered', session: 'a', request: 'r', response: null },
  { type: 'answer-taken', session: 'a', request: 'r' },
  { type: 'stream-followed', stream: 'a.b' },
  { type: 'stream-written', stream: 'a.b' }
]

interface Opened {
  readonly broadcast: Broadcast
  readonly sessions: SessionMessages
  readonly heard: SessionMessage[]
  readonly errors: unknown[]
}

function open (t: Test, broadcast = createLocalBroadcast()): Opened {
  const errors: unknown[] = []
  const heard: SessionMessage[] = []
  const sessions = new SessionMessages(broadcast, (error) => { errors.push(error) })
  t.teardown(() => sessions.close())
  sessions.listen((message) => { heard.push(message) })
  return { broadcast, sessions, heard, errors }
}

const toChanged = (settings: object): ReplicaMessage => ({ type: 'session-changed', session: 'a', settings })

t.test('every message of a session arrives as it was sent', async (t) => {
  const { sessions, heard, errors } = open(t)
  for (const message of MESSAGES) await sessions.send(message)
  t.strictSame(heard, MESSAGES)
  t.strictSame(errors, [])
})

t.test('delivers a message of a later release with its additional members', async (t) => {
  const { broadcast, heard, errors } = open(t)
  await broadcast.send({ type: 'session-ended', session: 'a', expiresAt: 1, reason: 'deleted' })
  t.match(heard, [{ type: 'session-ended', session: 'a', expiresAt: 1 }])
  t.strictSame(errors, [])
})

t.test('ignores messages that are not about sessions', async (t) => {
  const { broadcast, heard, errors } = open(t)
  const types = ['task-done', '', 'session', 'constructor', '__proto__', 'toString']
  for (const type of types) await broadcast.send({ type, session: 'a' })
  t.strictSame(heard, [])
  t.strictSame(errors, [])
})

t.test('reports a message of an unknown shape without its values, and does not deliver it', async (t) => {
  const settings = { version: 1, logLevel: 'error', uris: [] }
  const { broadcast, heard, errors } = open(t)
  const wrong: ReadonlyArray<readonly [ReplicaMessage, RegExp]> = [
    [{ type: 'session-ended', session: 'canary' }, /session-ended .*: expiresAt$/],
    [{ type: 'session-ended', session: ['canary'], expiresAt: 1 }, /session-ended .*: session$/],
    [toChanged({ ...settings, logLevel: 'canary' }), /: settings\.logLevel$/],
    [toChanged({ ...settings, uris: [{ canary: 1 }] }), /: settings\.uris\[0\]$/],
    [{ type: 'call-cancelled', session: 'a', request: { canary: 1 } }, /call-cancelled .*: request/],
    [{ type: 'stream-written', session: 'canary' }, /stream-written .*: stream$/]
  ]
  for (const [message] of wrong) await t.resolves(broadcast.send(message), 'its sender is not to blame')
  t.strictSame(heard, [])
  t.match(errors, wrong.map(([, pattern]) => ({ name: 'TypeError', message: pattern })))
  t.notMatch(errors.join('\n'), /canary/)
  await broadcast.send({ type: 'stream-written', stream: 'a.b' })
  t.equal(heard.length, 1, 'and the next one is heard')
})

t.test('reports the error of a listener, and still calls the other listeners', async (t) => {
  const { sessions, heard, errors } = open(t)
  const stop = sessions.listen(() => { throw new Error('a listener of the test fails') })
  const [message = MESSAGES[0] as SessionMessage] = MESSAGES
  await t.resolves(sessions.send(message))
  stop()
  await sessions.send(message)
  t.strictSame(heard, [message, message])
  t.match(errors, [{ name: 'AggregateError', errors: [{ message: 'a listener of the test fails' }] }])
})

t.test('tells each listener about missed messages until it is removed', async (t) => {
  let miss = () => {}
  const listen: Broadcast['listen'] = (_hear, onMissed = () => {}) => {
    miss = onMissed
    return () => { miss = () => {} }
  }
  const { sessions } = open(t, { ...createLocalBroadcast(), listen })
  const missed: string[] = []
  const stop = sessions.listen(() => {}, () => { missed.push('one') })
  sessions.listen(() => {}, () => { missed.push('other') })
  miss()
  stop()
  miss()
  t.strictSame(missed, ['one', 'other', 'other'])
})

t.test('delivers nothing once it is closed, and leaves the broadcast open', async (t) => {
  const { broadcast, sessions, heard } = open(t)
  const others: ReplicaMessage[] = []
  broadcast.listen((message) => { others.push(message) })
  sessions.close()
  await broadcast.send({ type: 'stream-written', stream: 'a.b' })
  t.strictSame(heard, [])
  t.equal(others.length, 1)
})
