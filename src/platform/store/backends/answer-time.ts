import { clock } from '../../../base/time.ts'

/** The longest time, in milliseconds. */
export const ANSWER_MS = 1400
/**
 * The time of the next requests after one that had the longest time and no answer, until one is answered or
 * SHORT_FOR_MS have passed. A call that sends several requests one after the other so fails within two
 * seconds.
 */
const SHORT_MS = 300
const SHORT_FOR_MS = 2000

/** How long a request to a server of state waits for its answer. */
export class AnswerTime {
  #shortUntil = 0

  /** The time of a request that begins now, in milliseconds. */
  get ms (): number { return clock.monotonic() < this.#shortUntil ? SHORT_MS : ANSWER_MS }

  noteAnswer (): void { this.#shortUntil = 0 }

  /** Call it for a request that had the longest time. */
  noteSilence (): void { this.#shortUntil = clock.monotonic() + SHORT_FOR_MS }
}
