// Runs a handler as a request does: once for each round.

import type { ClientCapabilities } from '../../../src/platform/protocol/capabilities.ts'
import type {
  InputRound, Relay, RoundBinding, RoundRequest
} from '../../../src/request/questions/input-round.ts'
import { InputRequired } from '../../../src/request/questions/round-state.ts'
import {
  SealedInputRound, type SealedRoundOptions
} from '../../../src/request/questions/sealed-input-round.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { checkInputRequired } from './wire-shapes.ts'

const EVERYTHING: ClientCapabilities = {
  elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {}
}
export const BINDING: RoundBinding = {
  owner: 'alice', method: 'tools/call', name: 'order', args: { sku: 'x' }
}
export const TTL_MS = 600_000

export interface Pending {
  readonly inputRequests: {
    readonly [key: string]: { readonly method: string, readonly params: { readonly [key: string]: unknown } }
  }
  readonly requestState?: string
}

export interface Sent {
  readonly inputResponses?: unknown
  readonly requestState?: string | undefined
  readonly capabilities?: ClientCapabilities
  readonly binding?: RoundBinding
  readonly relay?: Relay
}

/** The end of a round: the value or the error of the handler, and the questions for the client. */
export interface Ending<T> {
  readonly value?: T
  readonly error?: unknown
  readonly pending: Pending | undefined
}

interface InputRounds { open (request: RoundRequest): InputRound }

export function createRounds (options: Partial<SealedRoundOptions> = {}): InputRounds {
  const sealer = createSealer(['the secret of these tests'])
  return { open: (request) => new SealedInputRound({ sealer, ttlMs: TTL_MS, ...options }, request) }
}

export async function runRound<T> (
  rounds: InputRounds, handler: (round: InputRound) => T | Promise<T>, sent: Sent = {}
): Promise<Ending<T>> {
  const { binding = BINDING, ...rest } = sent
  const round = rounds.open({
    inputResponses: undefined, requestState: undefined, capabilities: EVERYTHING, bind: () => binding, ...rest
  })
  const outcome = await attempt(async () => await handler(round))
  await round.settle()
  return { ...outcome, pending: readPending(round.pending) }
}

async function attempt<T> (run: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await run() }
  } catch (error) {
    return { error }
  }
}

/** Throws when the members do not match the schema of the specification. */
function readPending (json: string | undefined): Pending | undefined {
  if (json === undefined) return undefined
  const pending = JSON.parse(`{${json}}`)
  const verdict = checkInputRequired(pending)
  if (!verdict.ok) throw new Error(`${json} is not an InputRequiredResult: ${verdict.problems.join('; ')}`)
  return pending
}

/** Answers each round from a table of responses. Resolves to the ends of all rounds of the request. */
export async function converse<T> (
  rounds: InputRounds, handler: (round: InputRound) => T | Promise<T>,
  responses: { readonly [key: string]: unknown }
): Promise<Array<Ending<T>>> {
  const endings: Array<Ending<T>> = []
  let sent: Sent = {}
  while (endings.length < 10) {
    const ending = await runRound(rounds, handler, sent)
    endings.push(ending)
    if (ending.pending === undefined) return endings
    if (!(ending.error instanceof InputRequired)) {
      throw new Error('asked without leaving the handler', { cause: ending.error })
    }
    const { inputRequests, requestState } = ending.pending
    sent = {
      inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, responses[key]])),
      requestState
    }
  }
  throw new Error('the request does not end')
}
