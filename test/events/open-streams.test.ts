// The count of the open streams.

import t from 'tap'
import { createOpenStreams } from '../../src/events/open-streams.ts'
import { FakeSink } from './fake-sink.ts'

t.test('is full at its limit, and not after a stream has ended (207)', (t) => {
  const streams = createOpenStreams(2)
  const [first, second] = [new FakeSink(), new FakeSink()]
  streams.add(first)
  t.strictSame([streams.size, streams.isFull], [1, false])
  streams.add(second)
  t.strictSame([streams.size, streams.isFull], [2, true])
  streams.add(new FakeSink())
  t.equal(streams.size, 3, 'a stream that must not be refused is counted above the limit')
  first.leave()
  t.ok(streams.isFull)
  second.leave()
  t.notOk(streams.isFull)
  t.end()
})
