// The state of a round whose handler called `ask` or `once`, and the rejection of `ask`.

import { timers } from '../../base/time.ts'
import { quote } from '../../base/words.ts'
import type { RequestState } from './input-round.ts'
import { type Answer, findJsonProblem, type Question } from './question.ts'
import { isAttemptName, toAttemptName } from './step-results.ts'

/** `ask` rejects with this while answers are missing, to end the handler. It is not reported as an error. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'
  constructor (keys: readonly string[]) {
    super(`The client is asked for ${keys.map((key) => JSON.stringify(key)).join(', ')}. ` +
      'The handler runs again when the client has answered. Do not catch this rejection.')
  }
}

/** Calls `fn`. Rejects when the result is not JSON: it could not travel to the next round. */
export async function runOnce<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
  if (typeof key !== 'string' || key === '') throw new Error('once: the key must be a text that is not empty')
  const result = await fn()
  const problem = result === undefined ? undefined : findJsonProblem(result, 'the result')
  if (problem !== undefined) {
    throw new Error(`once, ${JSON.stringify(key)}: the result must be a JSON value, ` +
      `because the client carries it to the next round, but ${problem}`)
  }
  return result
}

/** The keys of a run: each names one piece of work, or one sleep. Work that has failed may be tried again. */
class UsedKeys {
  readonly #names = new Set<string>()
  readonly #failures = new Map<string, number>()

  /** Returns the error for a key that was used before, or that names an attempt at other work. */
  use (kind: 'once or step' | 'sleep', key: string): Error | undefined {
    const name = `${kind} ${key}`
    if (isAttemptName(key)) {
      return new Error(`The key ${quote(key)} ends as the names of further attempts at a step do. ` +
        'Choose one without "(attempt" and a number at its end.')
    }
    if (this.#names.has(name)) {
      return new Error(`The key ${quote(key)} of ${kind} was used twice in one run. ` +
        'Each needs a key of its own: in a loop, put the number into it.')
    }
    this.#names.add(name)
    return undefined
  }

  /** Lets the key be used again: its work has failed. */
  free (kind: 'once or step', key: string): void {
    this.#names.delete(`${kind} ${key}`)
    this.#failures.set(key, (this.#failures.get(key) ?? 0) + 1)
  }

  /** Returns the name under which the next attempt at this work is kept. */
  attemptName (key: string): string { return toAttemptName(key, (this.#failures.get(key) ?? 0) + 1) }
}

/** How many rejections of questions come at once. Each later one takes SLOW_ENDING_MS. */
const QUICK_ENDINGS = 10
const SLOW_ENDING_MS = 1000

export interface AskedQuestion {
  readonly question: Question
  readonly answer: Answer | undefined | Promise<Answer | undefined>
}

/** The state of a round. Most rounds have none: it is made by the first `ask`, `once` or request state. */
export class RoundState {
  /** The request state of the earlier rounds, with the additions of this round. */
  readonly requestState: RequestState
  readonly questions = new Map<string, AskedQuestion>()
  readonly keys = new UsedKeys()
  /** The input requests that the client must answer, as JSON. */
  readonly inputRequests = new Map<string, string>()
  readonly unsettled = new Set<Promise<unknown>>()
  #isOver = false
  #endings = 0

  constructor (requestState: RequestState = { answers: new Map(), results: new Map() }) {
    this.requestState = requestState
  }

  /** Ends the round: its handler runs again. What it does from now on would be done twice. */
  close (): void { this.#isOver = true }

  get isOver (): boolean { return this.#isOver }

  /** Whether somebody has accepted a question. */
  get hasAccepted (): boolean {
    return [...this.requestState.answers.values()].some((json) => json.startsWith('{"action":"accept"'))
  }

  /**
   * Returns how the handler ends that has asked. One that catches the rejection and asks again, as if it
   * could be answered, gets it later and later: it must not keep the process busy.
   */
  async toInputRequired (keys: readonly string[]): Promise<InputRequired> {
    if (++this.#endings > QUICK_ENDINGS) await timers.pause(SLOW_ENDING_MS, { ref: false })
    return new InputRequired(keys)
  }

  /**
   * Keeps the promise in `unsettled` until it settles. The handler may have stopped waiting for the promise:
   * its rejection is handled here, so that it does not end the process.
   */
  track<T> (promise: Promise<T>, onRejected = () => {}): Promise<T> {
    const settle = () => this.unsettled.delete(promise)
    this.unsettled.add(promise)
    promise.then(settle, () => {
      settle()
      onRejected()
    })
    return promise
  }
}
