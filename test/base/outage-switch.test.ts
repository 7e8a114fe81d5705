// The switch that stops requests to a server that fails.

import t from 'tap'
import { OutageSwitch } from '../../src/base/outage-switch.ts'

function create () {
  let time = 0
  const outage = new OutageSwitch({ failures: 3, cooldownMs: 100, now: () => time })
  return {
    outage,
    pass (ms: number) { time += ms },
    fail (count = 3) { for (let index = 0; index < count; index++) outage.add(new Error(`e${index}`)) }
  }
}

t.test('is off after several failures in a row, for its time', (t) => {
  const { outage, pass, fail } = create()
  fail(2)
  t.equal(outage.error, undefined)
  outage.reset()
  fail(2)
  t.equal(outage.error, undefined, 'an answer is between them')
  outage.add(new Error('last'))
  t.match(outage.error, { message: 'last' })
  pass(99)
  t.ok(outage.error)
  pass(1)
  t.equal(outage.error, undefined)
  t.end()
})

t.test('failures of one source count once', (t) => {
  const { outage } = create()
  for (let count = 0; count < 9; count++) outage.add(new Error('x'), 'ada')
  t.equal(outage.error, undefined)
  outage.add(new Error('x'), 'grace')
  outage.add(new Error('x'), 'alan')
  t.ok(outage.error)
  t.end()
})

t.test('one request at a time asks after the cooldown', (t) => {
  const { outage, pass, fail } = create()
  fail()
  pass(100)
  const end = outage.begin()
  t.ok(outage.error, 'a second one does not ask')
  pass(1000)
  t.ok(outage.error, 'however long the first one takes')
  outage.add(new Error('again'))
  end()
  t.match(outage.error, { message: 'again' })
  pass(100)
  t.equal(outage.error, undefined)
  const second = outage.begin()
  outage.reset()
  second()
  t.equal(outage.error, undefined)
  t.end()
})

t.test('one source cannot prolong an outage for ever', (t) => {
  const { outage, pass, fail } = create()
  fail()
  for (const [source, isOff] of [['ada', true], ['ada', false], ['grace', true], ['ada', true]] as const) {
    pass(100)
    const end = outage.begin()
    outage.add(new Error('x'), source)
    end()
    t.equal(outage.error !== undefined, isOff, source)
  }
  t.end()
})

t.test('requests that began before the outage neither take a turn nor prolong it', (t) => {
  const { outage, pass, fail } = create()
  const ends = [outage.begin(), outage.begin()]
  fail()
  pass(50)
  outage.add(new Error('late'))
  ends[0]?.()
  pass(50)
  t.equal(outage.error, undefined, 'one still runs')
  const probe = outage.begin()
  ends[1]?.()
  t.ok(outage.error, 'its end is not the end of the probe')
  probe()
  t.equal(outage.error, undefined)
  t.end()
})

t.test('a probe of an earlier outage takes no turn of a later one', (t) => {
  const { outage, pass, fail } = create()
  fail()
  pass(100)
  const slow = outage.begin()
  outage.reset()
  fail()
  pass(100)
  t.equal(outage.error, undefined)
  slow()
  t.equal(outage.error, undefined)
  t.end()
})
