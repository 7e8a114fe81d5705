import type { Answer, Question } from './question.ts'
import type { Carried } from './request-state.ts'

export interface Asked { readonly question: Question, readonly answer: Answer | undefined | Promise<Answer | undefined> }

/** What only a round that is used needs; most requests never ask. */
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
