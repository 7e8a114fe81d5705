// What one request of a session has to say before its result: in order, and no log message below the session's level.

import { randomUUID } from 'node:crypto'
import { HandlerTimeout, RequestAborted } from '../../dispatch/endings.ts'
import type { Outlet } from '../../dispatch/request-context.ts'
import { ClientRefusal, type ClientAnswers } from '../../legacy/client-answers.ts'
import type { ClientLine } from '../../legacy/live-input-round.ts'
import type { SessionRequestContext } from '../../legacy/session-request-context.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import type { Session } from '../../legacy/session.ts'
import { toRequest, type Params } from '../../protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../../protocol/log-levels.ts'
import type { CallReply } from './call-reply.ts'

export interface CallOutletParts {
  readonly settings: SessionSettings
  readonly answers: ClientAnswers
  /** How long a client has for an answer, in milliseconds. */
  readonly answerTtlMs: number
}

/** Where a client has not said what it wants to hear of. */
const DEFAULT_LEVEL: LogLevel = 'info'

export class CallOutlet implements Outlet, ClientLine {
  context: SessionRequestContext | undefined
  readonly #reply: CallReply
  readonly #session: Session
  readonly #parts: CallOutletParts
  /** What is held back until the session's level is known. */
  #held: Promise<void> | undefined
  #openRequests = 0

  constructor (reply: CallReply, session: Session, parts: CallOutletParts) {
    this.#reply = reply
    this.#session = session
    this.#parts = parts
  }

  /** Whether its client is being asked something. */
  get isAsking (): boolean { return this.#openRequests > 0 }

  notify (json: string, level?: LogLevel): void {
    if (level === undefined) this.whenSaid(() => this.#reply.notify(json))
    else this.#hold(async () => { if (isAtLeast(level, await this.#level())) this.#reply.notify(json) })
  }

  /** Does it after all that was said before, at once where that is possible. */
  whenSaid (next: () => void): void {
    if (this.#held === undefined) next()
    else this.#hold(async () => next())
  }

  disconnect (retryMs: number): void {
    this.whenSaid(() => this.#reply.disconnect(retryMs))
  }

  async request (method: string, params: Params): Promise<unknown> {
    const { context } = this
    if (context === undefined) throw new TypeError('unreachable: a handler has a context')
    const id = randomUUID()
    const tooLate = AbortSignal.timeout(this.#parts.answerTtlMs)
    const answer = this.#parts.answers.wait(this.#session.id, id, AbortSignal.any([context.signal, tooLate]))
    this.whenSaid(() => this.#reply.send(toRequest(id, method, params)))
    // The client's time is not the handler's.
    if (this.#openRequests++ === 0) context.stopClock()
    try {
      return await answer
    } catch (error) {
      throw tooLate.aborted && !(error instanceof RequestAborted || error instanceof HandlerTimeout) ? new ClientRefusal('it did not answer in time') : error
    } finally {
      if (--this.#openRequests === 0) context.startClock()
    }
  }

  #hold (work: () => Promise<void>): void {
    const held: Promise<void> = (this.#held ?? Promise.resolve()).then(work).finally(() => {
      if (this.#held === held) this.#held = undefined
    })
    this.#held = held
  }

  /** A level that cannot be read must not keep a result from its client. */
  async #level (): Promise<LogLevel> {
    const settings = await this.#parts.settings.read(this.#session).catch(() => undefined)
    return settings?.logLevel ?? DEFAULT_LEVEL
  }
}
