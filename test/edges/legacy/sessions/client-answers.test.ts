// Answers of clients that arrive at one replica while another one waits for them.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ClientAnswers } from '../../../../src/edges/legacy/sessions/client-answers.ts'
import type { SessionMessage } from '../../../../src/edges/legacy/sessions/session-messages.ts'
import type { Session } from '../../../../src/edges/legacy/sessions/session.ts'
import { Lifetime } from '../../../../src/request/pipeline/lifetime.ts'
import { createLocalSessionMessages } from '../../../helpers/session-messages.ts'

type Asked = Pick<Session, 'id' | 'network'>

const LARGE = { result: { text: 'x'.repeat(1_000_000) } }
const SMALL = { result: { text: 'x' } }

const withdraw = (): void => {}

function openTwo (t: Test) {
  const messages = createLocalSessionMessages()
  const sent: SessionMessage[] = []
  messages.listen((message) => { sent.push(message) })
  const [here, there] = [new ClientAnswers(messages), new ClientAnswers(messages)]
  t.teardown(() => { for (const part of [here, there, messages]) part.close() })
  const ask = (session: Asked = { id: 's' }) => {
    let id = ''
    const send = (given: string) => { id = given }
    const answer = there.ask(session, { send, withdraw, lifetime: new Lifetime(), timeoutMs: 60_000 })
    return { id, answer }
  }
  return { here, there, messages, ask, types: () => sent.map(({ type }) => type) }
}

t.test('an answer reaches the replica that waits, a large one when it has asked for it', async (t) => {
  for (const [answer, types] of [
    [SMALL, ['answered', 'answer-taken']],
    [LARGE, ['answer-offered', 'answer-wanted', 'answered', 'answer-taken']]
  ] as const) {
    const { here, ask, types: sent } = openTwo(t)
    const asked = ask()
    t.equal(await here.deliver('s', asked.id, answer), true)
    t.strictSame(await asked.answer, answer.result)
    t.strictSame(sent().toSorted(), types.toSorted())
  }
})

t.test('an answer is not refused although each message between the replicas takes a second', async (t) => {
  const { here, there, messages } = openTwo(t)
  const pass = messages.send.bind(messages)
  messages.send = async (message) => {
    await pause(1000)
    await pass(message)
  }
  let id = ''
  const lifetime = new Lifetime()
  const send = (given: string) => { id = given }
  const answer = there.ask({ id: 's' }, { send, withdraw, lifetime, timeoutMs: 60_000 })
  t.equal(await here.deliver('s', id, SMALL), true)
  t.strictSame(await answer, SMALL.result)
})

t.test('a large answer that no replica waits for is not passed on', async (t) => {
  const { here, types } = openTwo(t)
  t.equal(await here.deliver('s', `${'x'.repeat(12)}.${randomUUID()}`, LARGE), false)
  t.strictSame(types(), ['answer-offered'])
})

t.test('an answer to this replica is not passed on', async (t) => {
  const { there, ask, types } = openTwo(t)
  const asked = ask()
  t.equal(await there.deliver('s', asked.id, LARGE), true)
  t.strictSame(await asked.answer, LARGE.result)
  t.strictSame(types(), [])
})

t.test('one network holds at most a tenth of the questions that may wait', async (t) => {
  const { there, ask } = openTwo(t)
  const crowd = Array.from({ length: 400 }, (_, index) => (
    { session: `s${index % 10}`, ...ask({ id: `s${index % 10}`, network: '203.0.113.7' }) }
  ))
  await t.rejects(
    ask({ id: 'new', network: '203.0.113.7' }).answer,
    { name: 'TooManyQuestions', message: /of your address on this replica \(400\)/ }
  )
  const others = [{ id: 'new', network: '203.0.113.8' }, { id: 'without' }]
  for (const session of others) {
    const { id, answer } = ask(session)
    t.equal(await there.deliver(session.id, id, SMALL), true)
    t.strictSame(await answer, SMALL.result)
  }
  for (const { session, id } of crowd) await there.deliver(session, id, SMALL)
  await Promise.all(crowd.map(async ({ answer }) => await answer))
  const { id, answer } = ask({ id: 'new', network: '203.0.113.7' })
  await there.deliver('new', id, SMALL)
  t.strictSame(await answer, SMALL.result, 'an answered question makes room')
})

t.test('a question is withdrawn once, when nobody waits for it, and not after its answer', async (t) => {
  const { there, here } = openTwo(t)
  const withdrawn: string[] = []
  const begin = (timeoutMs = 60_000) => {
    const lifetime = new Lifetime()
    let id = ''
    const answer = there.ask({ id: 's' }, {
      send: (given) => { id = given }, withdraw: (given) => withdrawn.push(given), lifetime, timeoutMs
    })
    return { lifetime, id, answer: answer.catch((error: Error) => error.message) }
  }
  const stopped = begin()
  stopped.lifetime.stop(new Error('stopped'))
  t.strictSame(withdrawn, [stopped.id], 'at once')
  stopped.lifetime.end()
  t.equal(await stopped.answer, 'stopped')

  const late = begin(20)
  t.match(await late.answer, /did not answer in time/)
  const left = begin()
  left.lifetime.end()
  t.match(await left.answer, /its call ended first/)
  const answered = begin()
  t.equal(await here.deliver('s', answered.id, SMALL), true)
  answered.lifetime.stop(new Error('stopped'))
  answered.lifetime.end()
  await answered.answer
  t.strictSame(withdrawn, [stopped, late, left].map(({ id }) => id))

  const over = new Lifetime()
  over.end()
  const send = () => { throw new Error('sent') }
  const asking = there.ask({ id: 's' }, { send, withdraw, lifetime: over, timeoutMs: 1 })
  await t.rejects(asking, /its call ended first/)
})
