// The circuit breaker: who opens it, who probes, and what it remembers.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { CircuitBreaker } from '../../src/base/circuit-breaker.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const COOLDOWN_MS = 100
const [ADA, GRACE, ALAN] = ['ada', 'grace', 'alan']

function create () {
  let time = 0
  const options = { failures: 3, cooldownMs: COOLDOWN_MS, maxHolders: 10 }
  const breaker = new CircuitBreaker({ ...options, now: () => time })
  const fail = (holder: string, { most = 2, isOwn = false, witness = holder } = {}) => {
    breaker.fail(holder, { error: new Error(`from ${holder}`), witness, most, isOwn })
  }
  return {
    breaker,
    pass (ms: number) { time += ms },
    fail,
    isOpen: (holder: string) => breaker.findRefusal(holder) !== undefined,
    /** Opens the circuit for all. */
    open () {
      for (const holder of [ADA, ADA, GRACE]) fail(holder)
    }
  }
}

t.test('opens after failures in a row of two holders, for its time', (t) => {
  const { breaker, fail, isOpen, pass } = create()
  fail(ADA)
  fail(GRACE)
  breaker.succeed(ALAN)
  fail(ADA)
  fail(GRACE)
  t.notOk(isOpen(ALAN), 'an answer is between them')
  fail(ADA)
  t.match(breaker.findRefusal(ALAN), { message: 'from ada' })
  pass(COOLDOWN_MS - 1)
  t.ok(isOpen(ALAN))
  pass(1)
  t.notOk(isOpen(ALAN))
  t.end()
})

t.test('no holder opens it for the others, and no witness with many holders', (t) => {
  const { breaker, fail, isOpen } = create()
  for (let count = 0; count < 100; count++) fail(ADA, { isOwn: true })
  t.ok(isOpen(ADA), 'its own circuit is open')
  t.notOk(isOpen(GRACE))
  breaker.succeed(ADA)
  for (let count = 0; count < 100; count++) fail(`network ${count}`, { witness: 'anonymous', most: 1 })
  t.notOk(isOpen(GRACE))
  fail(ADA, { most: 1 })
  t.notOk(isOpen(GRACE))
  fail(GRACE, { most: 1 })
  t.ok(isOpen(GRACE))
  t.end()
})

t.test('the service itself is witness enough', (t) => {
  const { fail, isOpen } = create()
  for (let count = 0; count < 3; count++) fail('service', { most: 3 })
  t.ok(isOpen(ADA))
  t.end()
})

t.test('an answer to one holder closes the circuit for all, and no circuit of another holder', (t) => {
  const { breaker, fail, isOpen, open, pass } = create()
  for (let count = 0; count < 3; count++) fail(ADA, { isOwn: true })
  open()
  pass(COOLDOWN_MS)
  breaker.begin(GRACE)
  breaker.succeed(GRACE)
  t.notOk(isOpen(ALAN))
  t.notOk(isOpen(ADA), 'its turn has come')
  breaker.begin(ADA)
  t.ok(isOpen(ADA))
  breaker.succeed(ADA)
  t.notOk(isOpen(ADA))
  t.ok(breaker.isQuiet)
  t.end()
})

t.test('after the cooldown each holder has one probe in a cooldown, and leaves the others theirs', (t) => {
  const { breaker, fail, isOpen, open, pass } = create()
  open()
  pass(COOLDOWN_MS)
  const end = breaker.begin(ADA)
  t.ok(isOpen(ADA), 'one at a time')
  t.notOk(isOpen(GRACE))
  fail(ADA)
  end()
  t.ok(isOpen(ADA))
  t.notOk(isOpen(GRACE), 'a failure prolongs nothing for others')
  pass(COOLDOWN_MS)
  t.notOk(isOpen(ADA))
  t.end()
})

t.test('a probe that hangs gives up its place, and its holder gets no second one for it', (t) => {
  const { breaker, isOpen, open, pass } = create()
  open()
  pass(COOLDOWN_MS)
  const ends = ['a', 'b', 'c', 'd', 'e'].map((holder) => breaker.begin(holder))
  t.ok(isOpen(ALAN), 'five probes run')
  ends[0]?.()
  t.notOk(isOpen(ALAN))
  breaker.begin(GRACE)
  t.ok(isOpen(ALAN))
  pass(COOLDOWN_MS / 5)
  t.notOk(isOpen(ALAN), 'they hang')
  t.ok(isOpen('b'))
  t.end()
})

t.test('twenty calls at a time that hang leave another holder its probe in each moment', (t) => {
  const { breaker, fail, isOpen, open, pass } = create()
  open()
  pass(COOLDOWN_MS)
  const hanging: Array<() => void> = []
  for (let ms = 0; ms < 5000; ms++) {
    for (let call = 0; call < 20; call++) if (!isOpen(ADA)) hanging.push(breaker.begin(ADA))
    if (ms % 300 === 299) {
      fail(ADA)
      hanging.shift()?.()
    }
    if (isOpen(GRACE)) t.fail(`closed to another at ${ms} ms`)
    pass(1)
  }
  t.equal(hanging.length + 16, 50, 'one in a cooldown')
  t.end()
})

t.test('a request that began before the circuit opened is no probe', (t) => {
  const { breaker, fail, isOpen, open, pass } = create()
  const end = breaker.begin(ALAN)
  open()
  fail(ALAN)
  end()
  pass(COOLDOWN_MS)
  t.notOk(isOpen(ALAN))
  t.end()
})

t.test('a probe of an earlier outage takes no place of a later one', (t) => {
  const { breaker, isOpen, open, pass } = create()
  open()
  pass(COOLDOWN_MS)
  const slow = breaker.begin(ALAN)
  breaker.succeed(ADA)
  open()
  pass(COOLDOWN_MS)
  t.notOk(isOpen(ALAN))
  slow()
  t.notOk(isOpen(ALAN))
  t.end()
})

t.test('the holders that it remembers are few, however many there are', (t) => {
  const { breaker, fail, isOpen, open, pass } = create()
  open()
  pass(COOLDOWN_MS)
  for (let count = 0; count < 10_000; count++) {
    const holder = `network ${count}`
    if (isOpen(holder)) t.fail(holder)
    const end = breaker.begin(holder)
    fail(holder, { isOwn: true })
    end()
  }
  t.equal(breaker.size, 20)
  breaker.reset()
  t.equal(breaker.size, 0)
  t.end()
})

t.test('a thousand holders take less than a megabyte', (t) => {
  const now = () => 1000
  gc()
  const before = process.memoryUsage().heapUsed
  const breaker = new CircuitBreaker({ failures: 5, cooldownMs: 0, now })
  const error = new Error('x')
  for (let count = 0; count < 100_000; count++) {
    const holder = JSON.stringify(['https://issuer.example', `subject-${count}`])
    breaker.fail(holder, { error, witness: holder, most: 1, isOwn: true })
    breaker.begin(holder)()
  }
  gc()
  const bytes = process.memoryUsage().heapUsed - before
  t.comment(`${bytes} bytes`)
  t.ok(bytes < 1_000_000)
  t.notOk(breaker.isQuiet)
  t.end()
})
