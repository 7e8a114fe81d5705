import t from 'tap'
import { createStoreCheck } from '../../../src/app/store-check.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'

/** A store whose checks are counted, and a clock of its own. */
function setUp (answer: () => Promise<void>) {
  const counts = { checks: 0 }
  const time = { now: 0 }
  const warnings: object[] = []
  const check = createStoreCheck({
    async check () {
      counts.checks++
      await answer()
    }
  }, { log: { warn: (fields) => { warnings.push(fields) } }, now: () => time.now })
  return { counts, time, warnings, check }
}

t.test('anybody who asks, however often, costs the store one write a second', async (t) => {
  const { counts, time, check } = setUp(async () => {})
  await Promise.all(Array.from({ length: 1000 }, check))
  await check()
  t.equal(counts.checks, 1)
  time.now = 999
  await check()
  t.equal(counts.checks, 1)
  time.now = 1000
  await check()
  t.equal(counts.checks, 2)
})

t.test('says the cause, in the log too, and not the sentence for callers', async (t) => {
  let cause: Error | undefined = new Error('OOM command not allowed')
  const { counts, time, warnings, check } = setUp(async () => {
    if (cause !== undefined) throw new StoreUnavailable(cause)
  })
  for (let count = 0; count < 5; count++) await t.rejects(check(), cause)
  t.equal(counts.checks, 1, 'a refusal is kept for the same time')
  t.strictSame(warnings, [{ err: cause, errors: 1 }])
  cause = undefined
  time.now = 1000
  await check()
})

t.test('a store that hangs is asked once, and the answer is in time', async (t) => {
  let resolve = () => {}
  const { counts, check } = setUp(async () => {
    await new Promise<void>((_resolve) => { resolve = _resolve })
  })
  const begunAt = performance.now()
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, check))
  t.ok(outcomes.every(({ status }) => status === 'rejected'))
  await t.rejects(check(), { message: /neither taken nor refused a write within 2000 ms/ })
  t.ok(performance.now() - begunAt < 2 * 3000, 'each within the time of a probe')
  t.equal(counts.checks, 1)
  resolve()
  await new Promise(setImmediate)
  await check()
  t.equal(counts.checks, 1)
})
