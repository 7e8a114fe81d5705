// What a round keeps once its handler asks something or does something once, and how `ask` leaves the handler.

import { findJsonFault } from './json-fault.ts'
import type { Answer, Question } from './question.ts'
import type { Carried } from './request-state.ts'

/** `ask` rejects with it where the answers are still to come. It is no error: the round knows what to send. */
export class InputRequired extends Error {
  constructor (keys: readonly string[]) {
    super(`The client is asked for ${keys.map((key) => JSON.stringify(key)).join(', ')}, and the handler runs again when it answers. Let this rejection pass.`)
    this.name = 'InputRequired'
  }
}

/** Calls `fn`, and rejects where its result could not be carried to another round. */
export async function runOnce<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
  if (typeof key !== 'string' || key === '') throw new Error('once: the key must be a text that is not empty')
  const result = await fn()
  const fault = result === undefined ? undefined : findJsonFault(result, 'the result')
  if (fault !== undefined) throw new Error(`once, ${JSON.stringify(key)}: the result must be a JSON value, because the client carries it to the next round, but ${fault}`)
  return result
}

export interface Asked { readonly question: Question, readonly answer: Answer | undefined | Promise<Answer | undefined> }

/** Made when it is first needed: most requests never ask. */
export class RoundWork {
  readonly carried: Carried
  readonly asked = new Map<string, Asked>()
  readonly onces = new Map<string, Promise<unknown>>()
  /** The input requests that the client must answer, as JSON. */
  readonly open = new Map<string, string>()
  readonly underWay = new Set<Promise<unknown>>()

  constructor (carried: Carried = { answers: new Map(), results: new Map() }) {
    this.carried = carried
  }

  /** Whoever asked may have stopped waiting: a rejection must not end the process then. */
  follow<T> (promise: Promise<T>, onRejected = () => {}): Promise<T> {
    const done = () => this.underWay.delete(promise)
    this.underWay.add(promise)
    promise.then(done, () => {
      done()
      onRejected()
    })
    return promise
  }
}
