// The answer to one request of a session, and what is said before it: in order, and no log message below the
// session's level.

import { randomUUID } from 'node:crypto'
import type { Outlet } from '../../dispatch/caller.ts'
import type { Lifetime } from '../../dispatch/lifetime.ts'
import type { ClientAnswers } from '../../legacy/client-answers.ts'
import type { ClientLine } from '../../legacy/session-caller.ts'
import type { SessionCalls } from '../../legacy/session-calls.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import type { Session } from '../../legacy/session.ts'
import { ProtocolError, ResourceNotFound } from '../../protocol/errors.ts'
import {
  toErrorResponse, toRequest, toResultResponse, type Params, type RequestId
} from '../../protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../../protocol/log-levels.ts'
import type { CallReply } from './call-reply.ts'

export interface LegacyOutletDependencies {
  readonly settings: SessionSettings
  readonly answers: ClientAnswers
  readonly calls: SessionCalls
  /** How long a client has for an answer, in milliseconds. */
  readonly answerTtlMs: number
}

/** Where a client has not said which log messages it wants. */
const DEFAULT_LEVEL: LogLevel = 'info'
/** A call that takes longer gets a stream that its client can come back to. */
const PREPARE_AFTER_MS = 1000
const RESOURCE_NOT_FOUND = -32002

export class LegacyOutlet implements Outlet, ClientLine {
  readonly status = 200
  readonly #reply: CallReply
  readonly #session: Session
  readonly #id: RequestId
  readonly #dependencies: LegacyOutletDependencies
  /** What is held back until the session's level is known. */
  #held: Promise<void> | undefined

  constructor (reply: CallReply, session: Session, id: RequestId, dependencies: LegacyOutletDependencies) {
    this.#reply = reply
    this.#session = session
    this.#id = id
    this.#dependencies = dependencies
  }

  /** A client that leaves may come back: only a message of it stops the request. */
  outlasts (lifetime: Lifetime): void {
    this.#dependencies.calls.add(this.#session.id, this.#id, lifetime)
    const timer = setTimeout(() => this.#reply.prepare(), PREPARE_AFTER_MS)
    lifetime.onEnd(() => clearTimeout(timer))
  }

  notify (json: string, level?: LogLevel): void {
    if (level === undefined) this.#inOrder(() => this.#reply.notify(json))
    else this.#hold(async () => { if (isAtLeast(level, await this.#level())) this.#reply.notify(json) })
  }

  disconnect (retryMs: number): void {
    this.#inOrder(() => this.#reply.disconnect(retryMs))
  }

  succeed (result: string | Buffer): void {
    this.#inOrder(() => this.#reply.respond(toResultResponse(this.#id, result)))
  }

  fail (error: ProtocolError): void {
    this.#inOrder(() => this.#reply.respond(toErrorResponse(this.#id, toLegacyError(error))))
  }

  leaveUnanswered (): void {
    this.#inOrder(() => this.#reply.leaveOut())
  }

  openStream (): never {
    throw new TypeError('no method of a session answers with a stream')
  }

  async request (method: string, params: Params, lifetime: Lifetime): Promise<unknown> {
    const { answers, answerTtlMs } = this.#dependencies
    const id = randomUUID()
    const answer = answers.wait(this.#session.id, id, { lifetime, timeoutMs: answerTtlMs })
    this.#inOrder(() => this.#reply.send(toRequest(id, method, params)))
    // The client's time is not the handler's.
    const resumeClock = lifetime.pauseClock()
    return await answer.finally(resumeClock)
  }

  /** Does it after all that was said before, at once where that is possible. */
  #inOrder (next: () => void): void {
    if (this.#held === undefined) next()
    else this.#hold(async () => next())
  }

  #hold (work: () => Promise<void>): void {
    const held: Promise<void> = (this.#held ?? Promise.resolve()).then(work).finally(() => {
      if (this.#held === held) this.#held = undefined
    })
    this.#held = held
  }

  /** A level that cannot be read must not keep a result from its client. */
  async #level (): Promise<LogLevel> {
    const settings = await this.#dependencies.settings.read(this.#session).catch(() => undefined)
    return settings?.logLevel ?? DEFAULT_LEVEL
  }
}

/** Earlier revisions have a code of their own for it. */
function toLegacyError (error: ProtocolError): ProtocolError {
  return error instanceof ResourceNotFound
    ? new ProtocolError(RESOURCE_NOT_FOUND, error.message, { data: error.data })
    : error
}
