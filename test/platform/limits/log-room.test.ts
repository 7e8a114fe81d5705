// Which streams an event log keeps when it has no room for all.

import t from 'tap'
import { createLogRoom } from '../../../src/platform/limits/log-room.ts'
import type { Holder } from '../../../src/platform/limits/holder.ts'

const LIMITS = { maxEvents: 5, ttlMs: 60_000, maxBytes: 1000, now: () => 0 }
const ADDRESS: Holder = { kind: 'network', name: '203.0.113.7' }
const ADA: Holder = { kind: 'principal', name: 'ada' }

t.test('the streams of one network have a tenth: its own oldest go first', (t) => {
  const room = createLogRoom(LIMITS)
  room.add('other', 60)
  t.strictSame(room.add('a', 60, ADDRESS).excess, [])
  t.strictSame(room.add('b', 60, ADDRESS).excess, ['a'])
  t.strictSame(room.add('b', 60, ADDRESS).excess, [], 'the newest stream stays, whatever its size')
  t.strictSame(room.add('c', 60, { ...ADDRESS, name: '203.0.113.8' }).excess, [], 'others have their own')
  t.ok(room.has('other'))
  t.end()
})

t.test('the streams of one principal have a half', (t) => {
  const room = createLogRoom(LIMITS)
  room.add('other', 60)
  const gone = [1, 2, 3, 4, 5, 6].flatMap((stream) => room.add(`ada${stream}`, 100, ADA).excess)
  t.strictSame(gone, ['ada1'])
  t.ok(room.has('other'))
  t.end()
})

t.test('beyond the limit of all, the oldest stream of anybody goes', (t) => {
  const room = createLogRoom(LIMITS)
  room.add('first', 100, ADDRESS)
  room.add('second', 500, ADA)
  room.add('first', 0, ADDRESS)
  t.strictSame(room.add('third', 500).excess, ['second'])
  t.ok(room.has('first'))
  t.end()
})

t.test('expired streams make room, and a stream that gets events does not expire', (t) => {
  let now = 0
  const room = createLogRoom({ ...LIMITS, now: () => now })
  room.add('a', 100, ADDRESS)
  room.add('b', 0, ADDRESS)
  now = 59_999
  room.add('b', 0, ADDRESS)
  now = 60_000
  t.notOk(room.has('a'))
  t.strictSame(room.add('c', 100, ADDRESS), { excess: [], expired: ['a'] })
  now = 200_000
  t.strictSame(room.expire(), ['b', 'c'])
  t.strictSame(room.expire(), [])
  t.end()
})
