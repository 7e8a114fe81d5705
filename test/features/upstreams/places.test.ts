// The places of calls while credentials are waited for.

import t from 'tap'
import { until } from '../../helpers/deadline.ts'
import { ADA, callerOf, endOf, GRACE, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

t.test('an issuer that hangs keeps nobody out whose credential is there', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  let arrive: (headers: object) => void = () => {}
  const late = new Promise<object>((resolve) => { arrive = resolve })
  const { fetch, upstream: crm, outcomes } = openUpstream(t, upstream, {
    credential: { headers: ({ principal }) => principal.subject === 'ada' ? {} : late.then(() => ({})) },
    running: 4
  })
  const waiting = ['b', 'c'].flatMap((subject) => (
    [1, 2].map(async () => await endOf(fetch(callerOf({ subject }))))
  ))
  await until(() => crm.running === 4, 'the calls to wait')
  t.equal(await endOf(fetch(GRACE)), 'busy', 'the calls that wait have a limit too')
  for (let count = 0; count < 10; count++) t.equal(await endOf(fetch(ADA)), 200)
  t.equal(crm.running, 4)
  arrive({})
  t.strictSame(await Promise.all(waiting), [200, 200, 200, 200])
  t.equal(crm.running, 0)
  t.equal(outcomes.filter((one) => one === 'busy').length, 1)
})

t.test('one caller cannot take all places for waiting', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const { fetch, upstream: crm } = openUpstream(t, upstream, {
    credential: { headers: async () => await new Promise(() => {}) }, running: 4, limits: { timeoutMs: 300 }
  })
  const calls = [ADA, ADA, GRACE].map(async (caller) => await endOf(fetch(caller)))
  t.equal(await endOf(fetch(ADA)), 'busy')
  t.strictSame(await Promise.all(calls), ['timeout', 'timeout', 'timeout'])
  t.equal(crm.running, 0)
})

t.test('a credential that comes when all places are taken ends in busy', async (t) => {
  const answers: Array<() => void> = []
  const upstream = await startUpstream(t, (_, response) => { answers.push(() => response.end('ok')) })
  let arrive: (headers: object) => void = () => {}
  const late = new Promise<object>((resolve) => { arrive = resolve })
  const { fetch, upstream: crm } = openUpstream(t, upstream, {
    credential: { headers: ({ principal }) => principal.subject === 'grace' ? late.then(() => ({})) : {} },
    running: 2
  })
  const grace = endOf(fetch(GRACE))
  const own = [endOf(fetch(ADA)), endOf(fetch(callerOf({}, '127.0.0.1')))]
  await until(() => answers.length === 2, 'the calls')
  arrive({})
  t.equal(await grace, 'busy')
  for (const answer of answers) answer()
  t.strictSame(await Promise.all(own), [200, 200])
  t.equal(crm.running, 0)
})

t.test('a caller whose calls hang takes no place of others, with any number of clients', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url !== '/api/hang') response.end('ok')
  })
  const { fetch } = openUpstream(t, upstream, { running: 8, limits: { timeoutMs: 1000 } })
  const calls = Array.from({ length: 20 }, async (_, index) => (
    await endOf(fetch(callerOf({ subject: 'ada', clientId: `c${index}` }), 'hang'))
  ))
  const ends = new Map<unknown, number>()
  for (let count = 0; count < 20; count++) {
    const own = await Promise.all(Array.from({ length: 4 }, async () => await endOf(fetch(GRACE))))
    t.strictSame(own, [200, 200, 200, 200])
  }
  for (const end of await Promise.all(calls)) ends.set(end, (ends.get(end) ?? 0) + 1)
  t.strictSame(ends, new Map([['timeout', 4], ['busy', 16]]))
  // On a busy machine the calls of the others outlast those that hang: new connections replace these 4.
  t.ok(upstream.connections <= 8 + 4)
})
