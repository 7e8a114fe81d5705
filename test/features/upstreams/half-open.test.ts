// The circuit after its five seconds: one call of each caller finds out whether the upstream is back.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../../helpers/deadline.ts'
import { ADA, callerOf, endOf, GRACE, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

const SUBJECTS = ['a', 'b', 'c', 'd', 'e']

t.test('one call of each caller tries, also if each waits for its credential', async (t) => {
  let isBack = false
  const upstream = await startUpstream(t, (_, response) => {
    if (isBack) setTimeout(() => response.end('ok'), 100)
    else response.destroy()
  })
  const credential = { headers: async () => await pause(10, {}) }
  const { fetch } = openUpstream(t, upstream, { credential })
  for (const subject of SUBJECTS) await endOf(fetch(callerOf({ subject })))
  t.equal(await endOf(fetch(ADA)), 'unavailable')
  isBack = true
  const before = upstream.requests
  await pause(5100)
  const ends = await Promise.all([ADA, GRACE, ADA, GRACE].map(async (caller) => await endOf(fetch(caller))))
  t.strictSame(ends, [200, 200, 'unavailable', 'unavailable'])
  t.equal(upstream.requests - before, 2)
})

t.test('a long call that began before does not keep the circuit open', async (t) => {
  let isBack = false
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/hang') return
    if (isBack) response.end('ok')
    else response.destroy()
  })
  const { fetch } = openUpstream(t, upstream, { limits: { timeoutMs: 8000 } })
  const long = endOf(fetch(ADA, 'hang'))
  await until(() => upstream.requests === 1, 'the long call')
  for (const subject of SUBJECTS) await endOf(fetch(callerOf({ subject })))
  t.equal(await endOf(fetch(GRACE)), 'unavailable')
  isBack = true
  await pause(5100)
  t.equal(await endOf(fetch(GRACE)), 200)
  t.equal(await long, 'timeout')
})
