// Requests of the service that wait for a client's answer. The answer may arrive at another replica: the
// messages passes it to the replica that waits.

import { withinDeadline } from '../../../base/deadline.ts'
import { createCounts } from '../../../base/counts.ts'
import { cut } from '../../../base/text.ts'
import { random, type Timer, timers } from '../../../base/time.ts'
import type { Holder } from '../../../platform/limits/holder.ts'
import { Limit, partOf } from '../../../platform/limits/limits.ts'
import { Used } from '../../../platform/limits/used.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { SessionMessage, SessionMessages } from './session-messages.ts'
import type { Session } from './session.ts'

/** The client answered with an error, or did not answer in time. */
export class ClientRefusal extends Error {
  override readonly name = 'ClientRefusal'
  constructor (detail: string) { super(`the client refused: ${cut(detail, 300)}`) }
}

/** The client was not asked: too many questions wait for their answers. */
export class TooManyQuestions extends Error { override readonly name = 'TooManyQuestions' }

/** A handler may return while its question is open. */
const callEnded = () => new ClientRefusal('its call ended first')

/** The `result` or the `error` of a client's response, unchecked. */
interface ClientResponse { readonly result?: unknown, readonly error?: unknown }

type Asker = Pick<Session, 'id' | 'network'>

interface AnswerKey { readonly session: string, readonly request: string }

/** An answer that waits for its confirmation. */
interface Delivery {
  onWanted (): void
  onTaken (): void
}

interface AskOptions {
  /** Sends the request under the id. */
  send (id: string): void
  /** Tells the client that nobody waits for its answer any more. Not called once it has answered. */
  withdraw (id: string): void
  /** The lifetime of the request that asked. */
  readonly lifetime: Pick<Lifetime, 'isActive' | 'reason' | 'onStop' | 'onEnd'>
  /** How long the client has for its answer. */
  readonly timeoutMs: number
}

/**
 * How long the replica that waits for an answer may take to confirm it, in milliseconds. That takes two
 * messages, each of which is a command that a store may take more than a second for.
 */
const CONFIRM_TIMEOUT_MS = 3000
/**
 * A longer answer, as JSON, is offered first: clients may send answers that no replica waits for, and each
 * replica would receive them.
 */
const MAX_UNOFFERED_LENGTH = 16_384

/**
 * A call that waits for an answer holds its memory, about 25 KB, also when its client is gone. The limits are
 * those of one session and of one replica.
 */
const MAX_WAITING_OF_SESSION = 50

/** Begins with the name of the replica that asked. */
const QUESTION_ID = /^([\w-]{12})\.[0-9a-f-]{36}$/

export class ClientAnswers {
  readonly #messages: SessionMessages
  readonly #replica = random.name(9)
  readonly #waiting = new Map<string, (response: ClientResponse) => void>()
  /** How many questions of a session wait. */
  readonly #bySession = createCounts()
  readonly #used: Used
  readonly #deliveries = new Map<string, Delivery>()
  readonly #stopListening: () => void

  /** @param workerCount the processes among which the limit of the replica is divided. */
  constructor (messages: SessionMessages, workerCount = 1) {
    this.#used = new Used(new Limit('questions', partOf('questions', workerCount)))
    this.#messages = messages
    this.#stopListening = messages.listen((message) => this.#receive(message))
  }

  /**
   * Sends a request to the client. Resolves to the result. Rejects with a ClientRefusal, with
   * TooManyQuestions, or when the request that asked is stopped.
   */
  async ask (session: Asker, { send, withdraw, lifetime, timeoutMs }: AskOptions): Promise<unknown> {
    if (!lifetime.isActive) throw lifetime.reason ?? callEnded()
    this.#checkLimits(session)
    const request = `${this.#replica}.${random.uuid()}`
    const key = keyOf({ session: session.id, request })
    const stopWaiting = (error: Error): Error => {
      if (this.#waiting.delete(key)) withdraw(request)
      return error
    }
    const uncounts = [this.#bySession.add(session.id, 1), this.#used.add(toHolder(session.network))]
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(key, ({ result, error }) => {
        this.#waiting.delete(key)
        if (error === undefined) resolve(result)
        else reject(new ClientRefusal(toReason(error)))
      })
      send(request)
      // At once: the answer of a stopped request ends the stream on which the client is told.
      lifetime.onStop((reason) => reject(stopWaiting(reason)))
      lifetime.onEnd(() => reject(stopWaiting(callEnded())))
    })
    return await withinDeadline(
      answer, timeoutMs, () => stopWaiting(new ClientRefusal('it did not answer in time'))
    ).finally(() => {
      this.#waiting.delete(key)
      for (const uncount of uncounts) uncount()
    })
  }

  /**
   * Resolves to whether a replica, this one included, was waiting for the response. Rejects if the other
   * replicas could not be asked.
   */
  async deliver (session: string, request: string, response: ClientResponse): Promise<boolean> {
    const [, replica] = QUESTION_ID.exec(request) ?? []
    const key = { session, request }
    if (replica === undefined) return false
    // The other replica may be gone: only its silence tells.
    return replica === this.#replica ? this.#take(key, response) : await this.#passOn(key, response)
  }

  close (): void {
    this.#stopListening()
  }

  #checkLimits ({ id, network }: Asker): void {
    if (this.#bySession.of(id) >= MAX_WAITING_OF_SESSION) {
      const questions = 'questions that wait for an answer in this session'
      throw new TooManyQuestions(`Too many ${questions} (${MAX_WAITING_OF_SESSION}).`)
    }
    const refusal = this.#used.findRefusal(toHolder(network))
    if (refusal !== undefined) throw new TooManyQuestions(refusal.message)
  }

  #receive (message: SessionMessage): void {
    switch (message.type) {
      case 'answer-offered': {
        if (this.#waiting.has(keyOf(message))) this.#reply('answer-wanted', message)
        return
      }
      case 'answer-wanted': return this.#deliveries.get(keyOf(message))?.onWanted()
      case 'answer-taken': return this.#deliveries.get(keyOf(message))?.onTaken()
      case 'answered':
        if (this.#take(message, toResponse(message.response))) this.#reply('answer-taken', message)
    }
  }

  #reply (type: 'answer-wanted' | 'answer-taken', { session, request }: AnswerKey): void {
    this.#messages.send({ type, session, request }).catch(() => {})
  }

  /** Returns whether the answer was waited for. */
  #take (key: AnswerKey, response: ClientResponse): boolean {
    const resolve = this.#waiting.get(keyOf(key))
    resolve?.(response)
    return resolve !== undefined
  }

  /** Resolves to whether another replica took the answer. */
  async #passOn (key: AnswerKey, response: ClientResponse): Promise<boolean> {
    const isOffered = JSON.stringify(response).length > MAX_UNOFFERED_LENGTH
    let timer: Timer | undefined
    try {
      return await new Promise((resolve, reject) => {
        timer = timers.setTimeout(() => resolve(false), CONFIRM_TIMEOUT_MS)
        const send = (message: SessionMessage) => { this.#messages.send(message).catch(reject) }
        const sendAnswer = () => send({ type: 'answered', ...key, response })
        const onWanted = () => {
          timer?.refresh()
          sendAnswer()
        }
        this.#deliveries.set(keyOf(key), { onWanted, onTaken: () => resolve(true) })
        if (isOffered) send({ type: 'answer-offered', ...key })
        else sendAnswer()
      })
    } finally {
      timers.clear(timer)
      this.#deliveries.delete(keyOf(key))
    }
  }
}

function keyOf ({ session, request }: AnswerKey): string {
  return `${session} ${request}`
}

/** Reads only the message: the other members of a client's error may be nested to any depth. */
function toReason (error: unknown): string {
  return isObject(error) && typeof error.message === 'string' ? error.message : 'it did not say why'
}

function toResponse (response: unknown): ClientResponse {
  return typeof response === 'object' && response !== null ? response : {}
}

/** Sessions of principals are limited by session alone. */
function toHolder (network: string | undefined): Holder | undefined {
  return network === undefined ? undefined : { kind: 'network', name: network }
}
