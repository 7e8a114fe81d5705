import t from 'tap'
import type { InputRound, RoundBinding } from '../../../src/request/questions/input-round.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { alice, askName, color, name, red } from './question-examples.ts'
import { BINDING, createRounds, runRound, TTL_MS } from './rounds.ts'

const rounds = createRounds()
const never = () => { throw new Error('was called again') }

t.test('the error for a state that is too large has the sizes and a remedy', async (t) => {
  const small = createRounds({ maxStateBytes: 100 })
  const carrying = (length: number) => async (round: InputRound) => {
    await round.once('page', () => 'x'.repeat(length))
    await round.ask({ name })
  }
  const overhead = '{"answers":{},"results":{"page":[""]}}'.length
  t.ok((await runRound(small, carrying(100 - overhead))).pending?.requestState)
  await t.rejects(runRound(small, carrying(101 - overhead)), {
    message: /101 bytes, the limit is 100; the largest member is once "page"\..*defineHandle/
  })
  await t.rejects(runRound(rounds, carrying(40_000)), { message: /the limit is 32768/ })
})

async function stateFor (over: Partial<RoundBinding> = {}): Promise<string | undefined> {
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending } = await runRound(rounds, handler, {
    inputResponses: { name: alice }, binding: { ...BINDING, ...over }
  })
  return pending?.requestState
}

t.test('a state opens only for its owner, method, name and arguments (215, 216)', async (t) => {
  const requestState = await stateFor()
  const open = async (over: Partial<RoundBinding>) => await runRound(rounds, () => 'done', {
    requestState, binding: { ...BINDING, ...over }
  })
  t.equal((await open({})).value, 'done')
  for (const over of [
    { owner: 'bob' }, { method: 'prompts/get' }, { name: 'pay' }, { args: { sku: 'y' } },
    { args: { sku: 'x', more: null } }, { args: {} }, { args: undefined }, { args: [{ sku: 'x' }] }
  ]) {
    await t.rejects(
      open(over), { code: -32602, httpStatus: 200, message: /requestState/ }, JSON.stringify(over)
    )
  }
})

t.test('a state opens for arguments in another order, and for {} instead of none (216)', async (t) => {
  const args = { b: [{ y: 1, x: 2 }], a: { 2: 'd', 1: 'c' } }
  const same = { a: { 1: 'c', 2: 'd' }, b: [{ x: 2, y: 1 }] }
  const reordered = await runRound(rounds, () => 'done', {
    requestState: await stateFor({ args }), binding: { ...BINDING, args: same }
  })
  t.equal(reordered.value, 'done')
  await t.rejects(
    runRound(rounds, () => 'done', {
      requestState: await stateFor({ args: [1, 2] }), binding: { ...BINDING, args: [2, 1] }
    }),
    { code: -32602 }
  )
  const empty = await runRound(rounds, () => 'done', {
    requestState: await stateFor({ args: undefined }), binding: { ...BINDING, args: {} }
  })
  t.equal(empty.value, 'done')
})

t.test('arguments that are nested too deeply are invalid params', async (t) => {
  let args: unknown = {}
  for (let depth = 0; depth < 100_000; depth++) args = [args]
  await t.rejects(runRound(rounds, () => 'done', { requestState: 'x', binding: { ...BINDING, args } }), {
    code: -32602
  })
})

t.test('a changed state is an error, also with all answers or without a question (215, 218)', async (t) => {
  const requestState = await stateFor() ?? ''
  for (const made of [
    `${requestState}-TAMPERED`, requestState.slice(0, -1), requestState.slice(1), '', 'x',
    requestState.toUpperCase()
  ]) {
    await t.rejects(runRound(rounds, askName, { inputResponses: { name: alice }, requestState: made }), {
      code: -32602
    })
    await t.rejects(runRound(rounds, () => 'done', { requestState: made }), { code: -32602 })
  }
})

t.test('a state expires (216)', async (t) => {
  let time = 1_800_000_000_000
  const now = () => time
  const timed = createRounds({ now, sealer: createSealer(['secret'], { now }) })
  const { pending } = await runRound(timed, async (round) => [
    await round.once('k', () => 1), await round.ask({ name })
  ])
  const retry = async () => await runRound(
    timed, async (round) => [await round.once('k', never), await round.ask({ name })],
    { inputResponses: { name: alice }, requestState: pending?.requestState }
  )
  time += TTL_MS - 1
  t.strictSame((await retry()).value, [1, { name: alice }])
  time += 1
  await t.rejects(retry(), { code: -32602, message: /has expired/ })
})

t.test('a first question may be answered late, also if a state says when it was asked (220)', async (t) => {
  let time = 1_800_000_000_000
  const now = () => time
  const timed = createRounds({ now, sealer: createSealer(['secret'], { now }) })
  const relay = { capabilities: {}, takesOver: true, takeOver: () => false, keep: async () => '' }
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending: first } = await runRound(timed, handler, { relay })
  time += 30 * 86_400_000
  const { pending: second } = await runRound(
    timed, handler, { relay, inputResponses: { name: alice }, requestState: first?.requestState }
  )
  t.strictSame(Object.keys(second?.inputRequests ?? {}), ['color'])
  time += TTL_MS
  const late = { relay, inputResponses: { color: red }, requestState: second?.requestState }
  await t.rejects(runRound(timed, handler, late), {
    code: -32602, message: /has expired .* send the request again without it and without inputResponses/
  })
})

t.test('any replica with the secret can serve the next round (219)', async (t) => {
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending } = await runRound(createRounds(), handler, { inputResponses: { name: alice } })
  const { value } = await runRound(createRounds(), handler, {
    inputResponses: { color: red }, requestState: pending?.requestState
  })
  t.strictSame(value, [{ name: alice }, { color: red }])
})
