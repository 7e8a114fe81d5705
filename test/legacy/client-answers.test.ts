// Answers of clients that arrive at one replica while another one waits for them.

import t, { type Test } from 'tap'
import { Lifetime } from '../../src/dispatch/lifetime.ts'
import { createClientAnswers } from '../../src/legacy/client-answers.ts'
import type { SessionMessage } from '../../src/legacy/session-relay.ts'
import { createLocalSessionRelay } from '../helpers/session-relay.ts'

const LARGE = { result: { text: 'x'.repeat(1_000_000) } }
const SMALL = { result: { text: 'x' } }

function openTwo (t: Test) {
  const relay = createLocalSessionRelay()
  const sent: SessionMessage[] = []
  relay.listen((message) => { sent.push(message) })
  const [here, there] = [createClientAnswers(relay), createClientAnswers(relay)]
  t.teardown(() => { for (const part of [here, there, relay]) part.close() })
  const wait = async () => await there.wait('s', 'r', { lifetime: new Lifetime(), timeoutMs: 60_000 })
  return { here, there, wait, types: () => sent.map(({ type }) => type) }
}

t.test('an answer reaches the replica that waits, a large one when it has asked for it', async (t) => {
  for (const [answer, types] of [
    [SMALL, ['answered', 'answer-taken']],
    [LARGE, ['answer-offered', 'answer-wanted', 'answered', 'answer-taken']]
  ] as const) {
    const { here, wait, types: sent } = openTwo(t)
    const waiting = wait()
    t.equal(await here.deliver('s', 'r', answer), true)
    t.strictSame(await waiting, answer.result)
    t.strictSame(sent().toSorted(), types.toSorted())
  }
})

t.test('a large answer that no replica waits for is not relayed', async (t) => {
  const { here, types } = openTwo(t)
  t.equal(await here.deliver('s', 'r', LARGE), false)
  t.strictSame(types(), ['answer-offered'])
})

t.test('an answer to this replica is not relayed', async (t) => {
  const { there, wait, types } = openTwo(t)
  const waiting = wait()
  t.equal(await there.deliver('s', 'r', LARGE), true)
  t.strictSame(await waiting, LARGE.result)
  t.strictSame(types(), [])
})
