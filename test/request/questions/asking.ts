// Asks one question in a round.

import { elicit, type InputRequest } from '../../../src/platform/author/input-request.ts'
import { InputRequired } from '../../../src/request/questions/round-state.ts'
import { createRounds, runRound } from './rounds.ts'

export const rounds = createRounds()
export const form = (properties: object, more: object = {}) => elicit.form({
  message: 'Which?', schema: { type: 'object', properties, ...more }
})
export const ask = async (request: InputRequest, key = 'k') => await runRound(
  rounds, async (round) => await round.ask({ [key]: request })
)

/** The params that the client receives. */
export async function paramsOf (request: InputRequest) {
  const { pending, error } = await ask(request)
  if (!(error instanceof InputRequired)) throw error
  return pending?.inputRequests.k?.params
}

export async function problemOf (request: InputRequest): Promise<string> {
  const { error, pending } = await ask(request)
  if (pending !== undefined || !(error instanceof Error) || error instanceof InputRequired) {
    throw new Error('was asked')
  }
  return error.message
}
