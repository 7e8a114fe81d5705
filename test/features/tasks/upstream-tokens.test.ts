// The tokens that a task keeps to call upstreams as its caller, at a real authorization server.

import t, { type Test } from 'tap'
import type { Principal } from '../../../src/platform/access/principal.ts'
import type { ExchangeAuth } from '../../../src/platform/author/upstream-auth.ts'
import { replaceTime, timers } from '../../../src/base/time.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { findTransition } from '../../../src/features/tasks/machine/states.ts'
import { createExchangeCredential } from '../../../src/features/upstreams/credentials/exchange.ts'
import { KeptTokens } from '../../../src/features/upstreams/credentials/kept-tokens.ts'
import { createTaskTokens } from '../../../src/features/upstreams/credentials/task-tokens.ts'
import { openExchange, readToken } from '../upstreams/tokens/exchange-setup.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { openWorld } from './replicas.ts'
import { CASES, NOW } from './transition-cases.ts'

// The time limits of tasks would keep the process alive.
t.teardown(replaceTime({ setTimeout: (callback, ms) => setTimeout(callback, ms).unref() }))

const { signal } = new AbortController()
const TOKEN = {
  issuer: 'https://id.example', target: 'crm', accessToken: 'one', expiresAt: NOW, refreshToken: 'two'
}

/** Runs a tool that calls an upstream, sleeps and calls it again. */
async function runTask (
  t: Test, { keep = true, isLost = false, ...settings }: {
    readonly keep?: boolean
    /** Whether the first replica ends while the task sleeps. */
    readonly isLost?: boolean
    readonly hasRefreshTokens?: boolean
    readonly ttlSeconds?: number
  } = {}
) {
  const { exchange, server, principal } = await openExchange(t, { settings })
  const auth: ExchangeAuth = { type: 'exchange', audience: 'crm', scopes: ['crm:read'], keep }
  const kept = new KeptTokens()
  const { logger, text } = createReadableLog()
  const credential = createExchangeCredential(auth, { upstream: 'crm', exchange, kept, log: logger })
  const called: string[] = []
  const outcomes: string[] = []

  async function call (caller: Principal): Promise<void> {
    try {
      const { authorization = '' } = await credential.headers({ principal: caller, signal })
      called.push(authorization.replace('Bearer ', ''))
      outcomes.push(readToken(authorization.replace('Bearer ', '')).subject)
    } catch (error) {
      outcomes.push(error instanceof Error && 'failure' in error ? String(error.failure) : String(error))
    }
  }

  const script = async (round: InputRound, _: string, caller: Principal) => {
    await round.once('first', async () => { await call(caller) })
    await round.sleep(1100, undefined, timers.pause)
    await round.once('second', async () => {
      await call(caller)
      await call(caller)
    })
    return 'done'
  }
  const world = openWorld(script, {
    scopes: ['books:read'],
    upstreamTokens: createTaskTokens({
      exchange, kept, log: logger, exchangesOf: () => [{ name: 'crm', auth }]
    })
  })
  const first = world.openReplica('first')
  const other = world.openReplica('other')
  t.teardown(async () => {
    first.tasks.stopTaking()
    other.tasks.stopTaking()
    await other.tasks.close()
  })
  const alice = await principal('alice')
  const id = await first.call(alice)
  if (isLost) {
    first.kill()
    first.tasks.stopTaking()
  }
  const isOver = async () => (await other.ask('tasks/get', { taskId: id }, alice)).status === 'completed'
  await until(isOver, 'the end', 20_000)
  return { outcomes, called, server, text }
}

t.test('a later run calls as the user with the token that was kept', async (t) => {
  const { outcomes, called, server, text } = await runTask(t)
  t.strictSame(outcomes, ['alice', 'alice', 'alice'])
  t.equal(called[1], called[2])
  t.equal(server.requestsOf('/token'), 2, 'one for the request, and one to keep')
  for (const token of called) t.notOk(text().includes(token))
})

t.test('another replica does so too, and renews what has expired', async (t) => {
  const settings = { isLost: true, hasRefreshTokens: true, ttlSeconds: 1 }
  const { outcomes, called, server } = await runTask(t, settings)
  t.strictSame(outcomes, ['alice', 'alice', 'alice'])
  t.equal(called[1], called[2])
  t.equal(server.requestsOf('/token'), 3)
})

t.test('without keep, and without a refresh token, the user must call again', async (t) => {
  t.strictSame((await runTask(t, { keep: false })).outcomes, ['alice', 'caller', 'caller'])
  const { outcomes, server } = await runTask(t, { ttlSeconds: 1 })
  t.strictSame(outcomes, ['alice', 'caller', 'caller'])
  t.equal(server.requestsOf('/token'), 2)
})

t.test('a record has tokens for as long as a handler may run, whatever happens', (t) => {
  for (const { row, record, event, at = NOW } of CASES) {
    const next = findTransition({ ...record, upstreamTokens: { crm: TOKEN } }, event, at)?.record
    if (next === undefined) continue
    const { status, isRunning, undo } = next
    const isOver = ['completed', 'failed', 'cancelled'].includes(status) && !isRunning && undo !== 'due'
    t.strictSame(next.upstreamTokens, isOver ? undefined : { crm: TOKEN }, row)
  }
  t.end()
})

t.test('renewed tokens take the place of the earlier ones', (t) => {
  for (const { record, event } of CASES) {
    if (event.type !== 'kept') continue
    const renewed = { crm: { ...TOKEN, accessToken: 'another' } }
    const next = findTransition(
      { ...record, upstreamTokens: { crm: TOKEN } }, { ...event, upstreamTokens: renewed }, NOW
    )
    t.strictSame(next?.record?.upstreamTokens, renewed)
  }
  t.end()
})
