// The contract of every call counter. A new backend is done when its counter passes.

import type { Test } from 'tap'
import type { CallCounter, CountedRate } from '../../src/platform/limits/call-counter.ts'
import type { StoppableServer } from '../servers/stoppable-server.ts'

interface CheckedCounter {
  readonly counter: CallCounter
  /** Lets this time pass for the counter. */
  pass (ms: number): Promise<void>
  /** The counter's time, in milliseconds. */
  now (): number
}

interface OpenedCounter {
  readonly counter: CallCounter
  /** What the counter has reported. */
  readonly errors: readonly unknown[]
}

interface SharedCounters {
  /** Opens the counter of one replica. It waits for its server, also on a busy machine. */
  open (t: Test, prefix: string): Promise<OpenedCounter>
  /** Opens a counter over a server of its own. It waits no longer than that of a service. */
  openAlone (t: Test): Promise<OpenedCounter & { readonly server: StoppableServer }>
  /** The keys under which the server has counts of this prefix. */
  readKeys (prefix: string): Promise<readonly string[]>
}

const rate = (key: string, calls: number, perMs: number): CountedRate => ({ key, calls, perMs })

/** @param open opens a counter without counted calls for each test. */
export function checkCallCounter (t: Test, open: (t: Test) => Promise<CheckedCounter>): void {
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

/** The claims about counters that replicas share over a server. */
export function checkSharedCallCounter (t: Test, { open, openAlone, readKeys }: SharedCounters): void {
  const shared = rate('a caller', 100, 60_000)
  const single = { ...shared, calls: 1 }

  t.test('three replicas count together: of 1,000 calls at once exactly 100 count', async (t) => {
    const replicas = await Promise.all([1, 2, 3].map(async () => await open(t, 'together')))
    const answers = await Promise.all(Array.from(
      { length: 1000 }, async (_, index) => await replicas[index % 3]?.counter.count([shared])
    ))
    t.equal(answers.filter((used) => used === undefined).length, 100)
    t.strictSame(replicas.flatMap(({ errors }) => errors), [])
  })

  t.test('services with other prefixes do not count together, and no key says who called', async (t) => {
    for (const prefix of ['one', 'two']) {
      const { counter } = await open(t, prefix)
      t.equal(await counter.count([rate('192.0.2.7', 1, 60_000)]), undefined, prefix)
    }
    const keys = await readKeys('one')
    t.equal(keys.length, 1)
    t.notOk(keys.some((key) => key.includes('192.0.2.7')))
  })

  t.test('while the server is away the replica counts alone', async (t) => {
    const { counter, errors, server } = await openAlone(t)
    for (let i = 0; i < 50; i++) await counter.count([shared])
    t.strictSame(errors, [])
    await server.kill()
    const answers: unknown[] = []
    for (let i = 0; i < 150; i++) answers.push(await counter.count([shared]))
    t.equal(answers.filter((used) => used === undefined).length, 50, 'with those that the server admitted')
    t.ok(errors.length > 0, 'and says so')
  })

  t.test('while the server is silent a call soon counts by itself', async (t) => {
    const { counter, errors, server } = await openAlone(t)
    await counter.count([shared])
    server.freeze()
    const begunAt = performance.now()
    t.match(await counter.count([single]), { rate: single }, 'with the call that the server admitted')
    t.ok(performance.now() - begunAt < 600, `${performance.now() - begunAt} ms`)
    t.match(errors, [{ message: /within 300 ms/ }])
  })
}
