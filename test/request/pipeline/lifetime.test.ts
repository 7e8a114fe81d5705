import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import {
  ClientGone, HandlerTimeout, Lifetime, RequestCancelled, ServiceClosing
} from '../../../src/request/pipeline/lifetime.ts'
import { Lifetimes } from '../../../src/request/pipeline/lifetimes.ts'
import { within } from '../../helpers/deadline.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

t.test('calls each end listener once, and a later one at once', async (t) => {
  const lifetime = new Lifetime()
  const heard: string[] = []
  lifetime.onEnd(() => heard.push('first'))
  lifetime.onEnd(() => heard.push('second'))
  t.ok(lifetime.isActive)
  lifetime.end()
  lifetime.end()
  lifetime.onEnd(() => heard.push('late'))
  t.strictSame(heard, ['first', 'second', 'late'])
  t.ok(lifetime.isOver)
  t.notOk(lifetime.isActive)
})

t.test('stops with the first reason only', async (t) => {
  const lifetime = new Lifetime()
  const reasons: Error[] = []
  lifetime.onStop((reason) => reasons.push(reason))
  lifetime.onStop((reason) => reasons.push(reason))
  const first = new RequestCancelled()
  lifetime.stop(first)
  lifetime.stop(new ClientGone())
  lifetime.onStop((reason) => reasons.push(reason))
  t.strictSame(reasons, [first, first, first])
  t.notOk(lifetime.isActive)
  t.notOk(lifetime.isOver, 'and is still to be answered')
})

t.test('is not stopped after its end', async (t) => {
  const lifetime = new Lifetime()
  const { signal } = lifetime
  lifetime.onStop(() => t.fail('told of a stop'))
  lifetime.end()
  lifetime.stop(new ClientGone())
  t.notOk(signal.aborted)
  lifetime.onStop(() => t.fail('told of a stop'))
})

t.test('has one signal, also when it is read late', async (t) => {
  const early = new Lifetime()
  const { signal } = early
  const reason = new ServiceClosing()
  early.stop(reason)
  t.equal(early.signal, signal)
  t.equal(signal.reason, reason)
  const late = new Lifetime()
  late.stop(reason)
  t.equal(late.signal.reason, reason, 'also after the stop')
})

t.test('the clock', async (t) => {
  const stopped = (lifetime: Lifetime): Promise<Error> => new Promise((resolve) => lifetime.onStop(resolve))

  t.test('runs when the limit is set and the clock is started, in either order', async (t) => {
    for (const [first, second] of [['limit', 'start'], ['start', 'limit']] as const) {
      const lifetime = new Lifetime()
      const steps = { limit: () => lifetime.limit(20), start: () => lifetime.startClock() }
      steps[first]()
      await pause(40)
      t.ok(lifetime.isActive, `not after ${first} alone`)
      steps[second]()
      const reason = await within(stopped(lifetime), 'the timeout')
      t.ok(reason instanceof HandlerTimeout && reason.timeoutMs === 20)
    }
  })

  t.test('stands still while it is paused, and then has its whole time again', async (t) => {
    const lifetime = new Lifetime()
    const resumeFirst = lifetime.pauseClock()
    lifetime.limit(60)
    lifetime.startClock()
    const resumeSecond = lifetime.pauseClock()
    await pause(90)
    resumeFirst()
    await pause(90)
    t.ok(lifetime.isActive)
    const resumedAt = performance.now()
    resumeSecond()
    await within(stopped(lifetime), 'the timeout')
    t.ok(performance.now() - resumedAt > 50)
  })

  t.test('ends with the request', async (t) => {
    const lifetime = new Lifetime()
    lifetime.limit(10)
    lifetime.startClock()
    lifetime.end()
    const { signal } = lifetime
    await pause(30)
    t.notOk(signal.aborted)
  })
})

t.test('the running requests', async (t) => {
  const turn = async (): Promise<void> => { await new Promise((resolve) => setImmediate(resolve)) }

  t.test('only requests that outlast their turn are watched', async (t) => {
    const lifetimes = new Lifetimes()
    const [quick, slow] = [new Lifetime(), new Lifetime()]
    const outlasting: Lifetime[] = []
    const watcher = { onPending: (lifetime: Lifetime) => { outlasting.push(lifetime) } }
    lifetimes.watch(quick, watcher)
    lifetimes.watch(slow, watcher)
    quick.end()
    await turn()
    t.strictSame(outlasting, [slow])
    slow.end()
  })

  t.test('all are stopped, those of this turn too', async (t) => {
    const lifetimes = new Lifetimes()
    const [old, fresh] = [new Lifetime(), new Lifetime()]
    lifetimes.watch(old, { onPending () {} })
    await turn()
    lifetimes.watch(fresh, { onPending () {} })
    lifetimes.stopAll()
    for (const { signal } of [old, fresh]) t.ok(signal.reason instanceof ServiceClosing)
  })

  t.test('have settled when the last has ended, and at once when there are none', async (t) => {
    const lifetimes = new Lifetimes()
    await within(lifetimes.settled(), 'nothing to wait for')
    const all = [new Lifetime(), new Lifetime(), new Lifetime()]
    for (const lifetime of all) lifetimes.watch(lifetime, { onPending () {} })
    let hasSettled = false
    const settled = lifetimes.settled().then(() => { hasSettled = true })
    all[0]?.end()
    await turn()
    all[1]?.end()
    await turn()
    t.notOk(hasSettled)
    all[2]?.end()
    await within(settled, 'the last')
  })

  t.test('have settled when all end within their turn', async (t) => {
    const lifetimes = new Lifetimes()
    const lifetime = new Lifetime()
    lifetimes.watch(lifetime, { onPending () {} })
    const settled = lifetimes.settled()
    lifetime.end()
    await within(settled, 'the end of the turn')
  })
})

t.test('a handler that never settles counts as lost ten minutes after its stop', async (t) => {
  const time = new VirtualTime(t)
  const begun = time.now
  const lifetime = new Lifetime()
  lifetime.track(new Promise(() => {}))
  const idle = new Promise<void>((resolve) => { lifetime.onIdle(resolve) })
  lifetime.stop(new ClientGone())
  lifetime.end()
  await time.during(idle, 600_000)
  t.equal(time.now - begun, 600_000)
})

t.test('stops a request whose limit is 30 days after 30 days', async (t) => {
  const time = new VirtualTime(t)
  const startedAt = time.now
  const lifetime = new Lifetime()
  const stopped = new Promise<Error>((resolve) => { lifetime.onStop(resolve) })
  lifetime.limit(2_592_000_000)
  lifetime.startClock()
  t.match(await time.during(stopped, 2_592_000_000), { timeoutMs: 2_592_000_000 })
  t.equal(time.now - startedAt, 2_592_000_000)
})
