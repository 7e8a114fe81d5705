// First answers where a replica or the store is lost.

import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/access/principal.ts'
import { createMemoryStateStore } from '../../../src/store/backends/memory/state-store.ts'
import {
  createFirstAnswers, type FirstAnswer, type FirstRun, type Repeatable
} from '../../../src/store/records/first-answers.ts'
import { StoreUnavailable } from '../../../src/store/records/state-store.ts'

const CALL: Repeatable = {
  sender: { principal: { ...ANONYMOUS, subject: 'ada' } }, key: ['tool', 1], args: {}, timeoutMs: 1000
}
const ANSWER: FirstAnswer = { result: '{"content":[]}', isError: false }
const signal = (ms = 5000) => () => AbortSignal.timeout(ms)

function runOf (t: Test, begun: FirstAnswer | FirstRun): FirstRun {
  if ('result' in begun) throw new Error(`${t.name}: the call is answered already`)
  return begun
}

t.test('while the call may still run, its repetitions wait; later one of them runs it', async (t) => {
  const clock = { now: Date.now() }
  const answers = createFirstAnswers(createMemoryStateStore(), () => clock.now)
  const lost = runOf(t, await answers.begin(CALL, signal()))
  await t.rejects(answers.begin(CALL, signal(300)), { name: 'AbortError' })
  clock.now += 3001
  const begun = [1, 2, 3].map(async () => await answers.begin(CALL, signal()))
  const run = runOf(t, await Promise.race(begun))
  await lost.keep({ ...ANSWER, result: 'too late' })
  await run.keep(ANSWER)
  const all = await Promise.all(begun)
  t.equal(all.filter((one) => 'result' in one).length, 2, 'one of the three ran it')
  t.strictSame(await answers.begin(CALL, signal()), ANSWER)
})

t.test('a principal can keep 1,000 answers; further calls run each time', async (t) => {
  const answers = createFirstAnswers(createMemoryStateStore())
  const begin = async (id: number) => await answers.begin({ ...CALL, key: id }, signal())
  for (let id = 0; id < 1001; id++) await runOf(t, await begin(id)).keep(ANSWER)
  t.strictSame(await begin(999), ANSWER)
  t.notOk('result' in await begin(1000))
})

t.test('without the store each call runs', async (t) => {
  const store = createMemoryStateStore()
  const unavailable = async () => { throw new StoreUnavailable(new Error('away')) }
  const answers = createFirstAnswers({ ...store, create: unavailable, replace: unavailable })
  await runOf(t, await answers.begin(CALL, signal())).keep(ANSWER)
  t.notOk('result' in await answers.begin(CALL, signal()))
})
