// What the journal takes for the same order, and what not.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { JournalOrder } from '../../../src/features/tasks/journal/journal-order.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

const PATIENCE_MS = 30_000

/** One thing after the other: `step a`, `ask b`. Those joined by `+` begin while the one before runs. */
function play (order: JournalOrder, text: string): Array<Promise<void> | undefined> {
  const waits: Array<Promise<void> | undefined> = []
  for (const group of text.split(', ')) {
    const operations = group.split(' + ')
    for (const operation of operations) {
      const [kind = '', ...keys] = operation.split(' ')
      waits.push(order.enter(kind as 'step', keys))
    }
    operations.forEach(() => order.leave())
  }
  return waits
}

function replay (text: string): JournalOrder {
  const first = new JournalOrder(PATIENCE_MS)
  play(first, text)
  const next = new JournalOrder(PATIENCE_MS)
  next.restore(structuredClone([...first.entries]))
  return next
}

const SAME: ReadonlyArray<readonly [earlier: string, now: string]> = [
  ['step a, sleep 0, ask q', 'step a, sleep 0, ask q, step more'],
  ['step a + step b, step c', 'step b + step a, step c'],
  ['step a, ask q r, step b', 'step a, ask r q, step b'],
  ['step a, ask q', 'step a, ask q more'],
  ['step a + sleep dry, step b', 'sleep dry + step a, step b'],
  ['step a', 'step a']
]

for (const [earlier, now] of SAME) {
  t.test(`after "${earlier}", "${now}" is the same order`, async (t) => {
    const order = replay(earlier)
    t.strictSame((await Promise.all(play(order, now))).filter(Boolean), [])
    t.equal(order.findMissing(), undefined)
  })
}

const OTHER: ReadonlyArray<readonly [earlier: string, now: string, difference: RegExp]> = [
  ['step a, sleep 0', 'step a, sleep long', /came to sleep "long" where it came to sleep "0"/],
  ['step a, step b', 'step b', /came to step "b" where it came to step "a"/],
  ['step a, step b', 'step a, step c', /came to step "c" where it came to step "b"/],
  ['ask q, step a', 'step a', /came to step "a" where it came to question "q"/],
  ['step a, ask q r', 'step a, ask r s', /came to question "r", "s" where it came to question "q"/],
  ['step a, sleep 0, step b + step c', 'step a, step b', /came to step "b" where it came to sleep "0"/]
]

for (const [earlier, now, difference] of OTHER) {
  t.test(`after "${earlier}", "${now}" is another order`, async (t) => {
    const time = new VirtualTime(t)
    const waiting = Promise.all(play(replay(earlier), now))
    await time.during(t.rejects(waiting, { name: 'JournalMismatch', message: difference }), 60_000)
  })
}

t.test('a handler that ends before what earlier runs came to is another one', (t) => {
  const order = replay('step a, step b')
  play(order, 'step a')
  t.match(order.findMissing()?.message, /came to its end where it came to step "b"/)
  t.end()
})

t.test('a branch waits for what came before it in another branch', async (t) => {
  const time = new VirtualTime(t)
  const order = replay('step a1 + step b1, step a2, step b2')
  const [, , early] = play(order, 'step a1 + step b1, step b2')
  let isReady = false
  const waiting = early?.then(() => { isReady = true })
  await time.during(timers.pause(20_000), 30_000)
  t.notOk(isReady)
  play(order, 'step a2')
  await time.during(Promise.resolve(waiting), 30_000)
  t.ok(isReady)
  t.equal(order.findMissing(), undefined)
})

t.test('branches whose steps did not overlap come in any order', async (t) => {
  const order = replay('step a, step b, step c')
  const [c] = play(order, 'step c')
  const [b] = play(order, 'step b')
  play(order, 'step a')
  await Promise.all([b, c])
  t.equal(order.findMissing(), undefined)
})

t.test('what waits in vain is not in the journal: it never began', async (t) => {
  const time = new VirtualTime(t)
  const order = replay('step a')
  await time.during(t.rejects(Promise.all(play(order, 'step new'))), 60_000)
  t.strictSame(order.entries.map(({ key }) => key), ['a'])
})

t.test('the order counts its bytes', (t) => {
  const order = new JournalOrder(PATIENCE_MS)
  for (let number = 0; number < 100; number++) play(order, `step ${'k'.repeat(50)}${number}`)
  const bytes = Buffer.byteLength(JSON.stringify(order.entries))
  t.ok(Math.abs(order.bytes - bytes) < bytes / 10, `${order.bytes} of ${bytes}`)
  t.end()
})

t.test('a form is part of the place, if the release of the earlier run wrote it', async (t) => {
  const order = new JournalOrder(PATIENCE_MS)
  order.restore([
    { kind: 'ask', key: 'old', group: 1 },
    { kind: 'ask', key: 'go', form: 'form', group: 2 },
    { kind: 'sleep', key: '0', group: 3 },
    { kind: 'sleep', key: '1', form: '2000 ms', group: 4 },
    { kind: 'sleep', key: '2', form: '1000 ms', group: 4 }
  ])
  t.equal(order.enter('ask', ['old'], ['url']), undefined)
  t.equal(order.enter('ask', ['go'], ['form']), undefined)
  t.equal(order.findSleep('1000 ms'), '2')
  t.equal(order.findSleep('5000 ms'), '0', 'a sleep of an earlier release may have any length')
  t.equal(order.enter('sleep', ['0'], ['5000 ms']), undefined)
  t.equal(order.findSleep('5000 ms'), '1')
  await t.rejects(Promise.resolve(order.enter('sleep', ['1'], ['5000 ms'])), {
    message: /came to sleep "1" \(5000 ms\) where it came to sleep "1" \(2000 ms\)/
  })
  await t.rejects(Promise.resolve(order.enter('ask', ['go'], ['url'])), {
    message: /came to question "go" \(url\) where it came to question "go" \(form\)/
  })
})
