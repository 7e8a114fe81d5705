// Calls of large results wait for room in the heap, holder by holder, and a result without room is dropped.

import { EventEmitter } from 'node:events'
import { ServerResponse, type IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import { LargeResults } from '../../../src/platform/limits/large-results.ts'
import { WaitingBytes } from '../../../src/platform/limits/waiting-bytes.ts'
import { Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

const CALL = { subject: 'large' }
const SIZE = 100_000

const turns = async () => { for (let count = 0; count < 5; count++) await turn() }

function open (t: Test, max = SIZE) {
  const time = new VirtualTime(t)
  const bytes = new WaitingBytes(max)
  const results = new LargeResults(bytes)
  const requestOf = (address?: string, isAwaited = false) => (
    { caller: { principal: ANONYMOUS, address }, lifetime: new Lifetime(), outlet: { isAwaited } }
  )
  return {
    async pass (ms: number) {
      await time.during(timers.pause(ms), ms)
      await turns()
    },
    bytes,
    results,
    requestOf,
    /** Begins calls of one sender, and lists those that have their turn. */
    begin (count: number, address?: string) {
      const begun: number[] = []
      const requests = Array.from({ length: count }, (_, index) => {
        const request = requestOf(address)
        const ending = results.begin(CALL, request)
        if (ending === undefined) begun.push(index)
        else ending.then(() => begun.push(index), () => {})
        return { ...request, ending }
      })
      return { begun, requests }
    }
  }
}

t.test('calls of large results begin one after another, in their order', async (t) => {
  const { results, begin, requestOf, pass } = open(t)
  t.strictSame(begin(3).begun, [0, 1, 2], 'nobody knows yet that they are large')
  results.note(CALL, SIZE)
  const { begun, requests } = begin(3)
  t.strictSame(begun, [0])
  await turns()
  t.strictSame(begun, [0])
  requests[0]?.lifetime.end()
  await turns()
  t.strictSame(begun, [0, 1])
  t.equal(results.begin({ subject: 'small' }, requestOf()), undefined, 'others do not wait')
  await pass(1250)
  t.strictSame(begun, [0, 1, 2], 'a turn without a result ends')
})

t.test('holders have their turns one after another, and no more than their shares', async (t) => {
  const { results, begin, requestOf } = open(t, 8 * SIZE)
  results.note(CALL, SIZE)
  const one = begin(4, '203.0.113.1')
  const two = begin(4, '203.0.113.2')
  t.strictSame([one.begun, two.begun], [[0], [0]], 'a tenth for each network, and one beyond it')
  for (const { lifetime } of [...one.requests.slice(0, 1), ...two.requests.slice(0, 1)]) lifetime.end()
  await turns()
  t.strictSame([one.begun, two.begun], [[0, 1], [0, 1]])
  t.equal(results.begin(CALL, requestOf('203.0.113.3')), undefined)
})

t.test('a call is refused after a long wait', async (t) => {
  const { results, begin, pass, requestOf, bytes } = open(t)
  results.note(CALL, SIZE)
  bytes.add(undefined, SIZE)
  const { requests: [waiting], begun } = begin(1)
  await pass(21_000)
  t.strictSame(begun, [])
  await t.rejects(waiting?.ending ?? Promise.resolve(), {
    message: /^Too many bytes of large answers on this replica/, code: 503, retryAfterSeconds: 5
  })
  await t.rejects(results.begin(CALL, requestOf(undefined, true)) ?? Promise.resolve(), { code: 503 },
    'one whose answer others wait for does not wait itself')
})

t.test('a request that is stopped waits no more', async (t) => {
  const { results, begin } = open(t)
  results.note(CALL, SIZE)
  const { requests: [first, second, third], begun } = begin(3)
  second?.lifetime.stop(new Error('gone'))
  await t.rejects(second?.ending ?? Promise.resolve(), { message: 'gone' })
  first?.lifetime.end()
  await turns()
  t.strictSame(begun, [0, 2])
  third?.lifetime.end()
})

t.test('a result has the room of its turn until it is an answer', async (t) => {
  const { results, begin, requestOf, bytes, pass } = open(t)
  results.note(CALL, SIZE)
  const { requests: [first], begun } = begin(2)
  t.ok(first !== undefined && results.admit(CALL, first, SIZE / 2), 'its text is smaller than its answer')
  await pass(5000)
  t.strictSame(begun, [0], 'it is written for a long time')
  const late = requestOf()
  t.notOk(results.admit(CALL, late, SIZE), 'a result without a turn is dropped')
  first?.lifetime.end()
  const raw = new ServerResponse(new EventEmitter() as IncomingMessage)
  t.ok(bytes.take({ raw, request: { principal: ANONYMOUS } }, SIZE), 'its answer comes before the next call')
  await turns()
  t.strictSame(begun, [0])
  raw.emit('close')
  await turns()
  t.strictSame(begun, [0, 1])
})

t.test('results that have become small are forgotten, also those of many primitives', async (t) => {
  const { results, begin } = open(t)
  results.note(CALL, SIZE)
  for (let count = 0; count < 10; count++) results.note(CALL, 100)
  t.strictSame(begin(3).begun, [0, 1, 2])
  results.note(CALL, SIZE)
  for (let count = 0; count < 1000; count++) results.note({ subject: `tool${count}` }, SIZE)
  t.strictSame(begin(3).begun, [0, 1, 2])
})
