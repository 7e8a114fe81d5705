import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import {
  AuthenticationError, AuthenticationUnavailable
} from '../../../src/platform/access/authentication.ts'
import {
  createServerGuard, ServerBusy, type ServerGuardOptions
} from '../../../src/platform/access/server-guard.ts'
import { within } from '../../helpers/deadline.ts'

const [ADA, BOB, CAROL, EVE] = ['203.0.113.7', '203.0.113.8', '203.0.113.9', '198.51.100.1']

function createGuard (options: Partial<ServerGuardOptions> = {}) {
  let time = 0
  const guard = createServerGuard({
    cooldownMs: 5000,
    patienceMs: 5000,
    now: () => time,
    isFailure: (error) => !(error instanceof AuthenticationError),
    ...options
  })
  return { guard, pass: (ms: number) => { time += ms } }
}

const fails = async () => await Promise.reject(new AuthenticationUnavailable('status 500'))
const refuses = async () => await Promise.reject(new AuthenticationError('invalid_token', 'not active'))
const answers = async () => await Promise.resolve('active')

t.test('a network whose tokens make the server fail locks out itself only', async (t) => {
  const { guard, pass } = createGuard()
  for (let i = 0; i < 10; i++) await t.rejects(guard(fails, EVE), /status 500/)
  await t.rejects(guard(answers, EVE), /status 500/, 'not asked')
  t.equal(await guard(answers, BOB), 'active', 'a network that was not seen before')
  pass(5000)
  await t.rejects(guard(fails, EVE))
  await t.rejects(guard(answers, EVE), /status 500/, 'one request was enough after the cooldown')
  pass(5000)
  t.equal(await guard(answers, EVE), 'active')
  await t.rejects(guard(fails, EVE))
  t.equal(await guard(answers, EVE), 'active', 'a single failure after an answer')
})

t.test('a server that fails at three networks that had a good token has failed for all', async (t) => {
  const { guard, pass } = createGuard()
  for (const network of [ADA, BOB, CAROL]) await guard(answers, network)
  for (const network of [ADA, EVE, EVE]) await t.rejects(guard(fails, network))
  t.equal(await guard(answers, BOB), 'active')
  for (const network of [ADA, EVE, BOB]) await t.rejects(guard(fails, network))
  await t.rejects(guard(answers, CAROL), /status 500/)
  await t.rejects(guard(answers, '192.0.2.1'), /status 500/)
  pass(5000)
  const [first, second, other] = [guard(answers, ADA), guard(answers, ADA), guard(answers, BOB)]
  await t.rejects(second, /status 500/, 'one request of each network finds out')
  t.strictSame(await Promise.all([first, other]), ['active', 'active'])
  t.equal(await guard(answers, CAROL), 'active')
})

t.test('strangers with any number of networks lock out nobody', async (t) => {
  const { guard } = createGuard()
  await guard(answers, ADA)
  for (let index = 0; index < 1000; index++) await t.rejects(guard(fails, `198.51.100.${index}`))
  t.equal(await guard(answers, ADA), 'active')
  await t.rejects(guard(fails, ADA))
  t.equal(await guard(answers, BOB), 'active', 'with the failure of one that had a good token')
})

t.test('principals are no strangers', async (t) => {
  const { guard } = createGuard({ holders: 'principal' })
  for (const subject of ['ada', 'bob', 'eve']) await t.rejects(guard(fails, subject))
  await t.rejects(guard(answers, 'carol'), /status 500/)
})

t.test('a network whose probes hang leaves those of others alone', async (t) => {
  const { guard, pass } = createGuard()
  for (const network of [ADA, BOB, CAROL]) await guard(answers, network)
  for (const network of [ADA, BOB, CAROL]) await t.rejects(guard(fails, network))
  pass(5000)
  let end: () => void = () => {}
  const hanging = guard(async () => await new Promise<void>((resolve) => { end = resolve }), EVE)
  await t.rejects(guard(answers, EVE), /status 500/)
  t.equal(await guard(answers, ADA), 'active')
  end()
  await hanging
})

t.test('a network with slow tokens has a tenth of the places, and a half after a good token', async (t) => {
  const { guard } = createGuard()
  const ends: Array<() => void> = []
  const hangs = async () => await new Promise<void>((resolve) => ends.push(resolve))
  const slow = Array.from({ length: 200 }, async () => await guard(hangs, EVE))
  t.equal(ends.length, 5)
  t.equal(await guard(answers, BOB), 'active', 'a network that was not seen before')
  slow.push(...Array.from({ length: 50 }, async () => await guard(hangs, BOB)))
  t.equal(ends.length, 30)
  t.equal(await guard(answers, '192.0.2.1'), 'active')
  const local = await Promise.all(Array.from({ length: 10 }, async () => await guard(answers)))
  t.equal(local.length, 10)
  while (ends.length > 0) {
    ends.shift()?.()
    await nextTurn()
  }
  await Promise.all(slow)
})

t.test('refused tokens are answers', async (t) => {
  const { guard } = createGuard()
  for (const ask of [fails, fails, refuses, fails, fails]) await t.rejects(guard(ask, EVE))
  t.equal(await guard(answers, EVE), 'active')
})

t.test('some places are for networks whose last token was good', async (t) => {
  const { guard } = createGuard({ maxAsking: 5, maxWaiting: 5 })
  await guard(answers, ADA)
  await guard(answers, BOB)
  await t.rejects(guard(refuses, BOB))
  let asked = 0
  const ends: Array<() => void> = []
  const hangs = async () => {
    asked++
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const running = Array.from({ length: 4 }, async (_, index) => await guard(hangs, `${EVE}${index}`))
  const waiting = Array.from({ length: 4 }, async () => await guard(hangs, BOB))
  t.equal(asked, 4)
  await t.rejects(guard(hangs, EVE), /too many tokens wait/)
  running.push(guard(hangs, ADA))
  t.equal(asked, 5, 'the place that was kept')
  const next = guard(answers, ADA)
  ends.shift()?.()
  t.equal(await next, 'active', 'before those that waited longer')
  while (ends.length > 0) {
    ends.shift()?.()
    await nextTurn()
  }
  await Promise.all([...running, ...waiting])
})

t.test('a server that has too much to do is asked again later, and has not failed', async (t) => {
  const guard = createServerGuard({
    cooldownMs: 5000, patienceMs: 5000, now: () => performance.now(), isFailure: () => true
  })
  let isBusy = true
  let asked = 0
  const ask = async () => {
    asked++
    if (isBusy) throw new ServerBusy('status 429', 100)
    return await answers()
  }
  const begin = performance.now()
  const first = Promise.all([EVE, EVE, EVE, ADA, BOB].map(async (network) => await guard(ask, network)))
  await nextTurn()
  const later = guard(ask, '192.0.2.1')
  await nextTurn()
  t.equal(asked, 5, 'nobody asks during the pause')
  isBusy = false
  t.strictSame(await within(first, 'the answers'), Array(5).fill('active'))
  t.equal(await later, 'active')
  t.ok(performance.now() - begin >= 99)
})

t.test('a request that is asked again comes before younger ones that wait', async (t) => {
  const { guard, pass } = createGuard({ maxAsking: 1 })
  const begun: string[] = []
  let refuse = () => {}
  const first = guard(async () => {
    begun.push('first')
    if (begun.length > 1) return 'active'
    await new Promise<void>((resolve) => { refuse = resolve })
    throw new ServerBusy('status 429', 20)
  })
  pass(1)
  const second = guard(async () => { begun.push('second') })
  refuse()
  await nextTurn()
  t.strictSame(begun, ['first'], 'both wait')
  pass(20)
  await within(Promise.all([first, second]), 'the answers')
  t.strictSame(begun, ['first', 'first', 'second'])
})

t.test('a pause that the server asks of one network is no pause for the others', async (t) => {
  const { guard, pass } = createGuard()
  const busy = async () => await Promise.reject(new ServerBusy('status 429', 5001))
  for (let i = 0; i < 3; i++) {
    await t.rejects(guard(busy, EVE), /429/)
    t.equal(await within(guard(answers, BOB), 'another network'), 'active')
    t.equal(await within(guard(answers, '192.0.2.1'), 'a network that was not seen before'), 'active')
    pass(5000)
  }
  await t.rejects(guard(busy, EVE), /429/)
  await t.rejects(guard(busy, ADA), /429/)
  const waiting = guard(answers, BOB)
  const first = await Promise.race([waiting, nextTurn('paused')])
  t.equal(first, 'paused', 'two networks in a row: the server limits the service')
  pass(5000)
  const woken = guard(answers, BOB)
  t.strictSame(await Promise.all([waiting, woken]), ['active', 'active'])
})

t.test('a request waits as long as its patience for a server that has too much to do', async (t) => {
  const { guard, pass } = createGuard({ isFailure: () => true })
  const busy = (ms: number) => async () => await Promise.reject(new ServerBusy('status 429', ms))
  for (let i = 0; i < 5; i++) {
    await t.rejects(guard(busy(5001), EVE), /429/)
    pass(5000)
  }
  t.equal(await guard(answers, EVE), 'active', 'the longest pause is over')
})
