// The count of the open streams.

import t from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { OpenStreams } from '../../../src/platform/limits/open-streams.ts'
import { FakeSink } from '../store/changes/fake-sink.ts'

const HERE = { principal: ANONYMOUS }
const at = (address: string) => ({ principal: ANONYMOUS, address })

t.test('is full at its limit, and not after a stream has ended (207)', (t) => {
  const streams = new OpenStreams(2)
  const [first, second] = [new FakeSink(), new FakeSink()]
  streams.add(first, HERE)
  streams.checkRoom(HERE)
  streams.add(second, HERE)
  t.throws(() => streams.checkRoom(HERE), { code: 503, message: /^Too many open streams on this replica \(2\)\./ })
  streams.add(new FakeSink(), HERE)
  t.equal(streams.size, 3, 'a stream that must not be refused is counted above the limit')
  first.leave()
  t.throws(() => streams.checkRoom(HERE), { code: 503 })
  second.leave()
  streams.checkRoom(HERE)
  t.end()
})

t.test('one network has a tenth', (t) => {
  const streams = new OpenStreams(20)
  const sinks = [new FakeSink(), new FakeSink(), new FakeSink()]
  for (const sink of sinks.slice(0, 2)) streams.add(sink, at('203.0.113.7'))
  t.throws(() => streams.checkRoom(at('203.0.113.7')), {
    code: 503,
    message: 'Too many open streams of your address on this replica (2). Close one.',
    cause: { message: /203\.0\.113\.7 has reached its share.*TRIVET_TRUSTED_PROXIES/ }
  })
  for (const other of [
    at('203.0.113.8'), at('127.0.0.1'), HERE,
    { principal: { ...ANONYMOUS, subject: 'ada' }, address: '203.0.113.7' }
  ]) {
    streams.checkRoom(other)
  }
  streams.add(sinks[2] ?? new FakeSink(), at('203.0.113.7'))
  t.equal(streams.size, 3, 'a stream that must not be refused is counted above the share')
  t.equal(streams.holders, 1)
  for (const sink of sinks) sink.leave()
  streams.checkRoom(at('203.0.113.7'))
  t.strictSame([streams.size, streams.holders], [0, 0], 'nothing of it is left')
  t.end()
})

t.test('one principal has a half', (t) => {
  const ada = { principal: { ...ANONYMOUS, subject: 'ada' }, address: '203.0.113.7' }
  const bob = { principal: { ...ANONYMOUS, subject: 'bob' }, address: '203.0.113.7' }
  for (const [streams, limit] of [[new OpenStreams(20), 10], [new OpenStreams(6), 3]] as const) {
    const sinks = Array.from({ length: limit }, () => new FakeSink())
    for (const sink of sinks) {
      streams.checkRoom(ada)
      streams.add(sink, ada)
    }
    t.throws(() => streams.checkRoom(ada), {
      code: 503,
      message: `Too many open streams of yours on this replica (${limit}). Close one.`
    })
    streams.checkRoom(bob)
    sinks[0]?.leave()
    streams.checkRoom(ada)
  }
  t.end()
})
