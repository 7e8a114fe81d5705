// The contract of every call counter. A new backend is done when its counter passes.

import type { Test } from 'tap'
import type { CallCounter, CountedRate } from '../../src/limits/call-counter.ts'

interface CheckedCounter {
  readonly counter: CallCounter
  /** Lets this time pass for the counter. */
  pass (ms: number): Promise<void>
  /** The counter's time, in milliseconds. */
  now (): number
}

/** @param open opens a counter without counted calls for each test. */
export function checkCallCounter (t: Test, open: (t: Test) => Promise<CheckedCounter>): void {
  const rate = (key: string, calls: number, perMs: number): CountedRate => ({ key, calls, perMs })

  t.test('of many calls at once exactly as many count as the rate allows', async (t) => {
    const { counter } = await open(t)
    const answers = await Promise.all(
      Array.from({ length: 300 }, async () => await counter.count([rate('a', 100, 60_000)]))
    )
    t.equal(answers.filter((used) => used === undefined).length, 100)
  })

  t.test('says which rate is used up, and a wait after which it is not', async (t) => {
    const { counter, pass } = await open(t)
    const used = rate('used', 2, 900)
    t.equal(await counter.count([used]), undefined)
    t.equal(await counter.count([used]), undefined)
    const answer = await counter.count([rate('free', 2, 900), used])
    t.equal(answer?.rate, used)
    t.ok((answer?.waitMs ?? 0) > 500 && (answer?.waitMs ?? 0) <= 930, `the wait of ${answer?.waitMs} ms`)
    await pass((answer?.waitMs ?? 0) + 1)
    t.equal(await counter.count([used]), undefined, 'a call counts after the wait')
  })

  t.test('a call that is refused counts for no rate', async (t) => {
    const { counter } = await open(t)
    const [few, many] = [rate('few', 1, 60_000), rate('many', 2, 60_000)]
    t.equal(await counter.count([few, many]), undefined)
    for (let i = 0; i < 5; i++) t.equal((await counter.count([many, few]))?.rate, few)
    t.equal(await counter.count([many]), undefined, 'the second of two')
    t.equal((await counter.count([many]))?.rate, many)
  })

  t.test('of two used rates the one with the longest wait is told', async (t) => {
    const { counter } = await open(t)
    const [short, long] = [rate('short', 1, 1000), rate('long', 1, 3_600_000)]
    t.equal(await counter.count([short, long]), undefined)
    t.equal((await counter.count([short, long]))?.rate, long)
    t.equal((await counter.count([long, short]))?.rate, long)
  })

  t.test('no span of the length has more calls than the rate allows', async (t) => {
    const { counter, pass, now } = await open(t)
    const perMs = 300
    const counted: Array<{ readonly began: number, readonly ended: number }> = []
    const start = now()
    while (now() < start + 5 * perMs) {
      const began = now()
      if (await counter.count([rate('a', 7, perMs)]) === undefined) counted.push({ began, ended: now() })
      await pass(3)
    }
    const within = ({ began }: { readonly began: number }) => counted.filter(
      (other) => other.began >= began && other.ended < began + perMs
    ).length
    t.ok(Math.max(...counted.map(within)) <= 7, 'at most seven in any span')
    t.ok(counted.length >= 4 * 7, `${counted.length} calls in five spans: the rate can be used`)
  })

  t.test('keys are apart', async (t) => {
    const { counter } = await open(t)
    for (const key of ['a', 'a ', 'b', 'ä €\n', '']) {
      t.equal(await counter.count([rate(key, 1, 60_000)]), undefined, JSON.stringify(key))
      t.equal((await counter.count([rate(key, 1, 60_000)]))?.rate.key, key)
    }
  })
}
