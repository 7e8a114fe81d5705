import { mock } from 'node:test'
import t from 'tap'
import { withinDeadline } from '../../src/base/deadline.ts'
import { pauseAfter, retry } from '../../src/base/retry.ts'
import { singleFlight } from '../../src/base/single-flight.ts'
import { clock, random, replaceTime, timers } from '../../src/base/time.ts'
import { within } from '../helpers/deadline.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'

const DAY_MS = 86_400_000

t.test('every clock, timer and random number comes from the source that a test puts in place', async (t) => {
  const pauses: number[] = []
  const restore = replaceTime({
    now: () => 5, random: () => 0.5, pause: async (ms) => { pauses.push(ms) }
  })
  t.equal(clock.now(), 5)
  t.equal(random.number(), 0.5)
  await timers.pause(1e9)
  t.equal(pauseAfter(3, { firstMs: 10, maxMs: 60 }), 45)
  t.strictSame(pauses, [1e9])
  restore()
  t.ok(Math.abs(clock.now() - Date.now()) < 1000)
})

t.test('a timer that is longer than those of Node ends at its own time, and can be stopped', async (t) => {
  const time = new VirtualTime(t)
  const startedAt = time.now
  const ends: Array<[name: string, days: number]> = []
  const start = (name: string, days: number) => (
    timers.setTimeout(() => { ends.push([name, (time.now - startedAt) / DAY_MS]) }, days * DAY_MS)
  )
  const passDays = async (days: number) => await time.during(timers.pause(days * DAY_MS), days * DAY_MS)
  const month = start('month', 30).unref()
  const refreshed = start('refreshed', 30)
  start('longest', Infinity)
  timers.clear(start('cleared', 30))
  const cleared = start('cleared later', 100)
  await passDays(27)
  t.equal(refreshed.refresh(), refreshed)
  await passDays(23)
  t.strictSame(ends, [['month', 30]])
  timers.clear(cleared)
  month.refresh()
  await passDays(100)
  t.strictSame(ends, [['month', 30], ['refreshed', 57], ['month', 80]])
})

t.test('a timer of Node begins again in its own callback', async (t) => {
  let calls = 0
  await within(new Promise<void>((resolve) => {
    const timer = timers.setTimeout(() => {
      if (++calls < 3) timer.refresh()
      else resolve()
    }, 1)
  }), 'the third call')
  t.equal(calls, 3)
})

t.test('an interval that is longer than those of Node takes 24.8 days, and can be stopped', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.teardown(() => mock.timers.reset())
  let calls = 0
  const interval = timers.setInterval(() => { calls++ }, Infinity).unref()
  mock.timers.tick(2 ** 31 - 2)
  t.equal(calls, 0)
  mock.timers.tick(1)
  t.equal(calls, 1)
  timers.clear(interval)
  mock.timers.tick(2 ** 31)
  t.equal(calls, 1)
  t.end()
})

t.test('a pause that would be longer than the timers of Node does not end at once', async (t) => {
  const controller = new AbortController()
  const { signal } = controller
  const pause = timers.pause(2 ** 31, { signal }).then(() => 'over', () => 'aborted')
  await timers.pause(20)
  controller.abort()
  t.equal(await pause, 'aborted')
})

t.test('retries with pauses that grow up to the longest, and rejects with the last error', async (t) => {
  const pauses: number[] = []
  t.teardown(replaceTime({ random: () => 0, pause: async (ms) => { pauses.push(ms) } }))
  const options = { firstMs: 10, maxMs: 30, attempts: 4 }
  const failing = retry(async (attempt) => { throw new Error(`attempt ${attempt}`) }, options)
  await t.rejects(failing, { message: 'attempt 3' })
  t.strictSame(pauses, [10, 20, 30])
  t.equal(await retry(async (attempt) => {
    if (attempt < 2) throw new Error('again')
    return attempt
  }, options), 2)
  const final = retry(async () => { throw new Error('final') }, { ...options, mayRetry: () => false })
  await t.rejects(final, { message: 'final' })
  t.equal(pauses.length, 5, 'an error that no attempt can mend is not waited for')
})

t.test('rejects when the deadline comes first, and stops its timer otherwise', async (t) => {
  let callback = (): void => {}
  let stops = 0
  t.teardown(replaceTime({
    setTimeout (late) {
      callback = late
      return { unref () { return this }, refresh () { return this } }
    },
    clear: () => { stops++ }
  }))
  t.equal(await withinDeadline(Promise.resolve('done'), 10, () => new Error('late')), 'done')
  const waiting = withinDeadline(new Promise(() => {}), 10, () => new Error('late'))
  callback()
  await t.rejects(waiting, { message: 'late' })
  t.equal(stops, 2)
})

t.test('shares a run among the callers that come while it goes on', async (t) => {
  let runs = 0
  const share = singleFlight(async () => ++runs)
  t.strictSame(await Promise.all([share(), share()]), [1, 1])
  t.equal(await share(), 2)
})
