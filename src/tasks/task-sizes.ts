// How much the service keeps of one task.

import type { RequestState } from '../request/questions/journal.ts'
import { toObjectJson } from '../request/questions/request-state.ts'

/** The results of steps and the answers of the client, as JSON. */
export const MAX_STATE_BYTES = 262_144
/** In the life of a task. A question whose answer does not fit counts again. */
export const MAX_QUESTIONS = 200
/** The result, as JSON. */
export const MAX_RESULT_BYTES = 1_048_576

/** For the log. `undefined` if the state is not too large. */
export function findStateExcess (state: RequestState): Error | undefined {
  const bytes = stateBytes(state)
  if (bytes <= MAX_STATE_BYTES) return undefined
  return new Error(
    `The results of once and step, and the answers of the client, would take ${bytes} bytes of JSON. ` +
    `The limit of a task is ${MAX_STATE_BYTES}. ` +
    'Keep large values under a handle (defineHandle), and let the step return its id.'
  )
}

export function stateBytes ({ answers, results }: RequestState): number {
  return Buffer.byteLength(toObjectJson(answers)) + Buffer.byteLength(toObjectJson(results))
}
