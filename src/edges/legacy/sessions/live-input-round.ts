// The input round of the legacy era. The handler keeps running while it waits: the service sends the client
// a request on the call's own stream, and the client answers with a POST.

import { clock } from '../../../base/time.ts'
import type { AnswersOf, InputRequest } from '../../../platform/author/input-request.ts'
import { ToolError } from '../../../platform/author/tool-error.ts'
import {
  findMissingCapabilities, mergeCapabilities, type ClientCapabilities
} from '../../../platform/protocol/capabilities.ts'
import type { Params } from '../../../platform/protocol/json-rpc.ts'
import type { Caller } from '../../../request/pipeline/caller.ts'
import type { Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { InputRound, Relay, Wait } from '../../../request/questions/input-round.ts'
import type { Answer, Question } from '../../../request/questions/question.ts'
import { readQuestions } from '../../../request/questions/questions.ts'
import { RoundState, runOnce } from '../../../request/questions/round-state.ts'
import { toResultJson } from '../../../request/questions/step-results.ts'
import { ClientRefusal, TooManyQuestions } from './client-answers.ts'
import { toLegacyRequest } from './client-requests.ts'
import { SessionCaller, type ClientRequester } from './session-caller.ts'

/**
 * The client could not be asked, or gave no answer that fits. A ToolError, because the client and its model
 * can act on the reason.
 */
export class InputUnavailable extends ToolError {}

/** Earlier revisions have no error code for a missing client capability: this text takes its place. */
export function describeMissing (missing: ClientCapabilities, caller: Caller): string {
  const names = Object.keys(missing)
  if (!(caller instanceof SessionCaller)) {
    return `This cannot be done without a session: it needs ${names.join(', ')}. ` +
      'Send initialize first, and its Mcp-Session-Id with every later request.'
  }
  if (caller.requester === undefined) {
    return `This cannot be done without an event stream: it needs ${names.join(', ')}. ` +
      'List text/event-stream in Accept.'
  }
  return `This cannot be done with this client: it lacks ${names.join(', ')}. ` +
    `Use a client that has ${names.length === 1 ? 'it' : 'them'}.`
}

const describeReason = (reason: string) => `This cannot be done with this client: ${reason}.`

type AskingRequest = Pick<RequestContext, 'caller' | 'revision' | 'envelope' | 'lifetime'>

/** How often a question is sent while the client's answers do not fit it. */
const MAX_ASKS = 3

export class LiveInputRound implements InputRound {
  readonly pending = undefined
  readonly #caller: Caller
  readonly #revision: string
  /** What the revision can ask of the client. */
  readonly #capabilities: ClientCapabilities
  readonly #lifetime: Lifetime
  readonly #asked = new Map<string, { readonly question: Question, readonly answer: Promise<unknown> }>()
  readonly #relay: Relay | undefined
  #lazyState: RoundState | undefined
  #elapsedMs: number | undefined

  /** @param relay takes the questions that the client cannot be asked. */
  constructor ({ caller, revision, envelope, lifetime }: AskingRequest, relay?: Relay) {
    this.#caller = caller
    this.#revision = revision
    this.#capabilities = envelope.clientCapabilities
    this.#lifetime = lifetime
    this.#relay = relay
  }

  get #state (): RoundState {
    this.#lazyState ??= new RoundState()
    return this.#lazyState
  }

  get elapsedMs (): number | undefined { return this.#elapsedMs }

  get relay (): InputRound['relay'] {
    const relay = this.#relay
    if (relay === undefined || !this.#isLeft) return undefined
    const { requestState, inputRequests } = this.#state
    this.#state.close()
    return async () => await relay.keep(requestState, inputRequests)
  }

  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  ask (requests: { readonly [key: string]: InputRequest }): Promise<unknown> {
    return this.#state.track(this.#ask(requests))
  }

  async #ask (requests: { readonly [key: string]: InputRequest }): Promise<unknown> {
    const questions = readQuestions(requests, (key) => this.#asked.get(key)?.question)
    if (this.#mustRelay(questions)) {
      throw await this.#leave(questions.filter(([key]) => !this.#asked.has(key)))
    }
    this.#checkAskable(questions)
    const askedAt = clock.monotonic()
    const answers = questions.map(([key, question]) => [key, this.#answerTo(key, question)] as const)
    // Waits for every answer before one may reject: otherwise a later rejection would be unhandled.
    await Promise.allSettled(answers.map(([, answer]) => answer))
    this.#elapsedMs = clock.monotonic() - askedAt
    return Object.fromEntries(
      await Promise.all(answers.map(async ([key, answer]) => [key, await answer] as const))
    )
  }

  mayAsk (json: string): boolean { return typeof toLegacyRequest(json, this.#revision) !== 'string' }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  once (key: string, fn: () => unknown): Promise<unknown> {
    const { keys } = this.#state
    const problem = keys.use('once or step', key)
    if (problem !== undefined) return Promise.reject(problem)
    return this.#state.track(this.#once(key, fn), () => keys.free('once or step', key))
  }

  async sleep (ms: number, key: string | undefined, wait: Wait): Promise<void> {
    const problem = key === undefined ? undefined : this.#state.keys.use('sleep', key)
    if (problem !== undefined) throw problem
    await wait(ms)
  }

  settle (): Promise<void> | undefined {
    if (!this.#isLeft || this.#state.unsettled.size === 0) return undefined
    return Promise.allSettled(this.#state.unsettled).then(() => this.settle())
  }

  /** Whether a question is left to the client's model. Most rounds have no state. */
  get #isLeft (): boolean { return this.#lazyState !== undefined && this.#lazyState.inputRequests.size > 0 }

  async #once (key: string, fn: () => unknown): Promise<unknown> {
    if (this.#state.isOver) throw await this.#state.toInputRequired([...this.#state.inputRequests.keys()])
    const result = await runOnce(key, fn)
    if (this.#relay !== undefined) this.#state.requestState.results.set(key, toResultJson(result))
    return result
  }

  /** Whether the client cannot be asked some of the questions, and its model may pass on all of these. */
  #mustRelay (questions: ReadonlyArray<readonly [string, Question]>): boolean {
    const relayed = this.#relay?.capabilities
    if (relayed === undefined) return false
    const unaskable = questions.filter(([, { requiredCapabilities, json }]) => (
      !isDeclared(requiredCapabilities, this.#capabilities) || !this.mayAsk(json)
    ))
    return unaskable.length > 0 &&
      unaskable.every(([, { requiredCapabilities }]) => isDeclared(requiredCapabilities, relayed))
  }

  /** Ends the handler: it runs again once its client's model has brought the answers. */
  async #leave (questions: ReadonlyArray<readonly [string, Question]>): Promise<Error> {
    const { inputRequests } = this.#state
    for (const [key, { json }] of questions) inputRequests.set(key, json)
    return await this.#state.toInputRequired(questions.map(([key]) => key))
  }

  /** Throws before any question is sent. */
  #checkAskable (questions: ReadonlyArray<readonly [string, Question]>): void {
    for (const [, { json }] of questions) {
      const request = toLegacyRequest(json, this.#revision)
      if (typeof request === 'string') throw new InputUnavailable(describeReason(request))
    }
    const required = mergeCapabilities(questions.map(([, { requiredCapabilities }]) => requiredCapabilities))
    const missing = findMissingCapabilities(required, this.#capabilities)
    if (missing !== undefined) throw new InputUnavailable(describeMissing(missing, this.#caller))
  }

  #answerTo (key: string, question: Question): Promise<unknown> {
    const earlier = this.#asked.get(key)
    if (earlier !== undefined) return earlier.answer
    const answer = this.#obtain(key, question)
    this.#asked.set(key, { question, answer })
    return answer
  }

  async #obtain (key: string, question: Question): Promise<unknown> {
    const request = toLegacyRequest(question.json, this.#revision)
    const requester = this.#caller instanceof SessionCaller ? this.#caller.requester : undefined
    if (typeof request === 'string') throw new InputUnavailable(describeReason(request))
    if (requester === undefined) throw new TypeError('unreachable: the client was found askable')
    for (let asks = 0; asks < MAX_ASKS; asks++) {
      const askedAt = clock.monotonic()
      const response = await this.#request(requester, request)
      const isTakenOver = !this.#state.hasAccepted &&
        this.#relay?.takeOver(question, response, clock.monotonic() - askedAt) === true
      if (isTakenOver) throw await this.#leave([[key, question]])
      const answer: Answer | undefined = await question.read(response)
      if (answer === undefined) continue
      if (this.#relay !== undefined) this.#state.requestState.answers.set(key, answer.json)
      return answer.value
    }
    throw new InputUnavailable('The client was asked for input, and its answers did not fit the question.')
  }

  async #request (
    requester: ClientRequester, { method, params }: { readonly method: string, readonly params: Params }
  ): Promise<unknown> {
    try {
      return await requester.request(method, params, this.#lifetime)
    } catch (error) {
      if (error instanceof TooManyQuestions) {
        throw new InputUnavailable(
          `The client cannot be asked now. ${error.message} Answer or cancel an earlier call first.`
        )
      }
      if (!(error instanceof ClientRefusal)) throw error
      throw new InputUnavailable('The client was asked for input, and did not answer.', { cause: error })
    }
  }
}

function isDeclared (required: ClientCapabilities, declared: ClientCapabilities): boolean {
  return findMissingCapabilities(required, declared) === undefined
}
