// What a round keeps once its handler asks something or does something once, and how `ask` leaves the
// handler.

import { findJsonProblem } from './json-problem.ts'
import type { Answer, Question } from './question.ts'
import type { RequestState } from './request-state.ts'

/**
 * `ask` rejects with it where the answers are still to come. It is no error: the round knows what to send.
 */
export class InputRequired extends Error {
  constructor (keys: readonly string[]) {
    super(
      `The client is asked for ${keys.map((key) => JSON.stringify(key)).join(', ')}, and the handler runs again when it answers. Let this rejection pass.`
    )
    this.name = 'InputRequired'
  }
}

/** Calls `fn`, and rejects where its result could not be carried to another round. */
export async function runOnce<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
  if (typeof key !== 'string' || key === '') throw new Error('once: the key must be a text that is not empty')
  const result = await fn()
  const problem = result === undefined ? undefined : findJsonProblem(result, 'the result')
  if (problem !== undefined) {
    throw new Error(
      `once, ${JSON.stringify(key)}: the result must be a JSON value, because the client carries it to the next round, but ${problem}`
    )
  }
  return result
}

export interface AskedQuestion {
  readonly question: Question
  readonly answer: Answer | undefined | Promise<Answer | undefined>
}

/** Made when it is first needed: most requests never ask. */
export class RoundState {
  readonly carried: RequestState
  readonly asked = new Map<string, AskedQuestion>()
  readonly onceResults = new Map<string, Promise<unknown>>()
  /** The input requests that the client must answer, as JSON. */
  readonly inputRequests = new Map<string, string>()
  readonly unsettled = new Set<Promise<unknown>>()

  constructor (carried: RequestState = { answers: new Map(), results: new Map() }) {
    this.carried = carried
  }

  /** Whoever asked may have stopped waiting: a rejection must not end the process then. */
  track<T> (promise: Promise<T>, onRejected = () => {}): Promise<T> {
    const done = () => this.unsettled.delete(promise)
    this.unsettled.add(promise)
    promise.then(done, () => {
      done()
      onRejected()
    })
    return promise
  }
}
