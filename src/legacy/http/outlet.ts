// Sends the answer to one request of a session, and the messages before it, in order. Log messages below the
// session's log level are left out.

import { timers } from '../../base/time.ts'
import { ProtocolError, ResourceNotFound } from '../../protocol/errors.ts'
import { toRequest, toResultResponse, type Params, type RequestId } from '../../protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../../protocol/log-levels.ts'
import type { Outlet } from '../../request/pipeline/caller.ts'
import type { Lifetime } from '../../request/pipeline/lifetime.ts'
import type { ClientAnswers } from '../sessions/client-answers.ts'
import type { ClientRequester } from '../sessions/session-caller.ts'
import type { SessionCalls } from '../sessions/session-calls.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import type { Session } from '../sessions/session.ts'
import type { CallReply } from './call-reply.ts'

export interface LegacyOutletDependencies {
  readonly settings: SessionSettings
  readonly answers: ClientAnswers
  readonly calls: SessionCalls
  /** How long a client may take to answer a request of the service, in milliseconds. */
  readonly answerTtlMs: number
}

/** The level of a session whose client has not called `logging/setLevel`. */
const DEFAULT_LEVEL: LogLevel = 'warning'
/** A call that takes longer gets a stream, to which its client can reconnect. */
const OPEN_STREAM_AFTER_MS = 1000
const LEGACY_RESOURCE_NOT_FOUND = -32002

export class LegacyOutlet implements Outlet, ClientRequester {
  readonly #reply: CallReply
  readonly #session: Session
  readonly #id: RequestId
  readonly #dependencies: LegacyOutletDependencies
  /** The messages that wait until the session's log level has been read; `undefined` if no message waits. */
  #held: Promise<void> | undefined

  constructor (reply: CallReply, session: Session, id: RequestId, dependencies: LegacyOutletDependencies) {
    this.#reply = reply
    this.#session = session
    this.#id = id
    this.#dependencies = dependencies
  }

  get status (): number { return this.#reply.status }

  /**
   * A closed connection does not stop the request, because the client may reconnect. Only a cancellation or
   * the end of the session does.
   */
  onPending (lifetime: Lifetime): void {
    this.#dependencies.calls.add(this.#session.id, this.#id, lifetime)
    const timer = timers.setTimeout(() => this.#reply.openResumable(), OPEN_STREAM_AFTER_MS)
    lifetime.onEnd(() => timers.clear(timer))
  }

  notify (json: string, level?: LogLevel): void {
    if (level === undefined) this.#inOrder(() => this.#reply.notify(json))
    else this.#hold(async () => { if (isAtLeast(level, await this.#level())) this.#reply.notify(json) })
  }

  disconnect (retryMs: number): void {
    this.#inOrder(() => this.#reply.disconnect(retryMs))
  }

  succeed (result: string | Buffer): void {
    this.#inOrder(() => this.#reply.respond(this.#id, toResultResponse(this.#id, result)))
  }

  fail (error: ProtocolError): void {
    this.#inOrder(() => this.#reply.fail(this.#id, toLegacyError(error)))
  }

  leaveUnanswered (): void {
    this.#inOrder(() => this.#reply.omitAnswer())
  }

  openStream (): never {
    throw new TypeError('no method of a session answers with a stream')
  }

  async request (method: string, params: Params, lifetime: Lifetime): Promise<unknown> {
    const { answers, answerTtlMs } = this.#dependencies
    const answer = answers.ask(this.#session, {
      send: (id) => this.#inOrder(() => this.#reply.send(toRequest(id, method, params))),
      lifetime,
      timeoutMs: answerTtlMs
    })
    // The time that the client takes does not count against the request's timeout.
    const resumeClock = lifetime.pauseClock()
    return await answer.finally(resumeClock)
  }

  /** Runs `next` after all held messages, or at once if no message is held. */
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

  /** Falls back to the default if the settings cannot be read: the client must get its result anyway. */
  async #level (): Promise<LogLevel> {
    const settings = await this.#dependencies.settings.read(this.#session).catch(() => undefined)
    return settings?.logLevel ?? DEFAULT_LEVEL
  }
}

/** Earlier revisions have a separate code for a resource that is not found. */
function toLegacyError (error: ProtocolError): ProtocolError {
  return error instanceof ResourceNotFound
    ? new ProtocolError(LEGACY_RESOURCE_NOT_FOUND, error.message, { data: error.data })
    : error
}
