// A call with `dedupe`, from its key to its answer, where the store is away or the request ends early.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { ToolError } from '../../../src/platform/author/tool-error.ts'
import {
  ClientGone, HandlerTimeout, Lifetime, RequestCancelled
} from '../../../src/request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../src/request/pipeline/request-context.ts'
import { runDeduped } from '../../../src/request/pipeline/run-deduped.ts'
import { runHandler } from '../../../src/request/pipeline/run-handler.ts'
import { toProtocolError } from '../../../src/request/pipeline/to-protocol-error.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import {
  createFirstAnswers, type FirstAnswers, type FirstRun
} from '../../../src/platform/store/records/first-answers.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'

function toRequest () {
  const lifetime = new Lifetime()
  lifetime.startClock()
  const warnings: unknown[][] = []
  const request = {
    id: 1,
    lifetime,
    revision: '2026-07-28',
    observed: { special: undefined, isToolError: false },
    caller: { principal: ANONYMOUS, headers: { 'idempotency-key': 'k' } },
    log: { warn: (...args: unknown[]) => { warnings.push(args) } }
  }
  t.teardown(() => lifetime.end())
  return { lifetime, warnings, request: request as unknown as RequestContext }
}

const CALL = {
  tool: 'tool',
  outputHash: 'one',
  args: {},
  timeoutMs: 1000,
  authorize: () => '',
  run: () => 'ran',
  recover (error: unknown): never { throw error }
}

function openAnswers (t: Test): FirstAnswers {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  return createFirstAnswers(store)
}

/** A handler that ends when the test says so, and does not heed its signal. */
function openHandler () {
  let finish = () => {}
  const output = new Promise<string>((resolve) => { finish = () => resolve('late') })
  const { request, lifetime } = toRequest()
  const run = async () => await runHandler(request, 60_000, () => output)
  return { request, lifetime, finish, run }
}

t.test('a call that has begun outlives its client, and repetitions get its answer', async (t) => {
  const answers = openAnswers(t)
  const { request, lifetime, run, finish } = openHandler()
  const first = runDeduped(answers, request, { ...CALL, run })
  await pause(50)
  lifetime.stop(new ClientGone())
  t.ok(lifetime.isActive)
  const repetition = runDeduped(answers, toRequest().request, CALL)
  await pause(50)
  finish()
  t.strictSame(await Promise.all([first, repetition]), ['late', 'late'])
})

t.test('a repetition whose client is gone waits no longer', async (t) => {
  const answers = openAnswers(t)
  const { request, run, finish } = openHandler()
  const first = runDeduped(answers, request, { ...CALL, run })
  await pause(20)
  const { request: other, lifetime } = toRequest()
  const repetition = Promise.resolve(runDeduped(answers, other, CALL))
  lifetime.stop(new ClientGone())
  await t.rejects(repetition, { message: 'The client is gone' })
  finish()
  t.equal(await first, 'late')
})

t.test('no repetition runs while a stopped handler runs on', async (t) => {
  const answers = openAnswers(t)
  const { request, lifetime, run, finish } = openHandler()
  const first = Promise.resolve(runDeduped(answers, request, { ...CALL, run }))
  await pause(20)
  lifetime.stop(new HandlerTimeout(1000))
  await t.rejects(first, { message: 'stopped after 1000 ms' })
  await t.rejects(
    Promise.resolve(runDeduped(answers, toRequest().request, { ...CALL, timeoutMs: 100 })),
    { message: /^This call did not run\. It repeats a call that is not known to have ended\. .*15 seconds/ }
  )
  const repetition = runDeduped(answers, toRequest().request, CALL)
  await pause(50)
  finish()
  t.equal(await repetition, 'ran')
})

t.test('each repetition is asked whether it is allowed', async (t) => {
  const answers = openAnswers(t)
  t.equal(await runDeduped(answers, toRequest().request, CALL), 'ran')
  const authorize = async () => { throw new ToolError('not you') }
  await t.rejects(
    Promise.resolve(runDeduped(answers, toRequest().request, { ...CALL, authorize })), { message: 'not you' }
  )
})

t.test('an answer of a release with another output schema is not given', async (t) => {
  const answers = openAnswers(t)
  t.equal(await runDeduped(answers, toRequest().request, CALL), 'ran')
  const run = () => 'ran here'
  t.equal(await runDeduped(answers, toRequest().request, { ...CALL, outputHash: 'two', run }), 'ran here')
})

t.test('a call is refused with 503, and does not run, while the store is away', async (t) => {
  const answers: FirstAnswers = {
    async begin () { throw new StoreUnavailable(new Error('away')) }
  }
  const work = async () => await runDeduped(answers, toRequest().request, {
    ...CALL, run: () => t.fail('it runs') as unknown as string
  })
  const error = await work().catch((error: unknown) => toProtocolError(error, 'r'))
  t.match(error, { code: 503, message: /^State cannot be reached/ })
})

t.test('a request that is stopped before its run begins leaves no run behind', async (t) => {
  const { request, lifetime } = toRequest()
  let isDropped = false
  let begin = (_: FirstRun) => {}
  const late = new Promise<FirstRun>((resolve) => { begin = resolve })
  const work = runDeduped({ begin: async () => await late }, request, CALL)
  lifetime.stop(new RequestCancelled())
  await t.rejects(Promise.resolve(work), { name: 'AbortError' })
  begin({ keep: async (answer) => answer, async drop () { isDropped = true } })
  await new Promise((resolve) => { setImmediate(resolve) })
  t.ok(isDropped)
})

t.test('a tool error of a store that was away is no answer: the next repetition runs', async (t) => {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  const answers = createFirstAnswers(store)
  const outage = new ToolError('Try again.', { cause: new StoreUnavailable(new Error('away')) })
  const run = async () => { throw outage }
  await t.rejects(Promise.resolve(runDeduped(answers, toRequest().request, { ...CALL, run })), outage)
  t.equal(await runDeduped(answers, toRequest().request, CALL), 'ran')
})

t.test('the log says which answer is not kept', async (t) => {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  const { request, warnings } = toRequest()
  const run = () => 'x'.repeat(70_000)
  t.equal((await runDeduped(createFirstAnswers(store), request, { ...CALL, run })).length, 70_000)
  t.match(warnings, [[
    { tool: 'tool', err: { message: /^the answer has more than 65536 characters/ } }, /^answer not kept/
  ]])
})
