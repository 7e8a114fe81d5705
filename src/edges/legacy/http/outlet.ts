// Sends the answer to one request of a session, and the messages before it, in order. Log messages below the
// session's log level are left out.

import { timers } from '../../../base/time.ts'
import { ProtocolError, ResourceNotFound } from '../../../platform/protocol/errors.ts'
import {
  toNotification, toRequest, toResultResponse, type Params, type RequestId
} from '../../../platform/protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../../../platform/protocol/log-levels.ts'
import type { Outlet } from '../../../request/pipeline/caller.ts'
import { RequestCancelled, type Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { ClientAnswers } from '../sessions/client-answers.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import { DEFAULT_LEVEL, type ClientRequester } from '../sessions/session-caller.ts'
import type { SessionMessages } from '../sessions/session-messages.ts'
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

/** A call that takes longer gets a stream, to which its client can reconnect. */
const OPEN_STREAM_AFTER_MS = 1000
const LEGACY_RESOURCE_NOT_FOUND = -32002

export class LegacyOutlet implements Outlet, ClientRequester {
  readonly #reply: CallReply
  readonly #session: Session
  readonly #id: RequestId
  readonly #dependencies: LegacyOutletDependencies
  /** The messages that wait until the session's log level has been read; `undefined` if no message waits. */
  #waiting: Promise<void> | undefined

  constructor (reply: CallReply, session: Session, id: RequestId, dependencies: LegacyOutletDependencies) {
    this.#reply = reply
    this.#session = session
    this.#id = id
    this.#dependencies = dependencies
  }

  get status (): number { return this.#reply.status }

  get isAwaited (): boolean { return this.#reply.isBatch }

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
      withdraw: (id) => this.#inOrder(() => this.#reply.send(toCancellation(id))),
      lifetime,
      timeoutMs: answerTtlMs
    })
    // The time that the client takes does not count against the request's timeout.
    const resumeClock = lifetime.pauseClock()
    return await answer.finally(resumeClock)
  }

  /** Runs `next` after all messages that wait, or at once if no message waits. */
  #inOrder (next: () => void): void {
    if (this.#waiting === undefined) next()
    else this.#hold(async () => next())
  }

  #hold (work: () => Promise<void>): void {
    const waiting: Promise<void> = (this.#waiting ?? Promise.resolve()).then(work).finally(() => {
      if (this.#waiting === waiting) this.#waiting = undefined
    })
    this.#waiting = waiting
  }

  /** Falls back to the default if the settings cannot be read: the client must get its result anyway. */
  async #level (): Promise<LogLevel> {
    const settings = await this.#dependencies.settings.read(this.#session).catch(() => undefined)
    return settings?.logLevel ?? DEFAULT_LEVEL
  }
}

/**
 * Lets the client close its dialog.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
function toCancellation (requestId: string): string {
  return toNotification('notifications/cancelled', { requestId, reason: 'The answer is not needed any more' })
}

/**
 * Earlier revisions have a separate code for a resource that is not found. HTTP 404 says that a session is
 * not found.
 */
export function toLegacyError (error: ProtocolError): ProtocolError {
  const { code, message, data, httpStatus } = error
  if (error instanceof ResourceNotFound) {
    return new ProtocolError(LEGACY_RESOURCE_NOT_FOUND, message, { data })
  }
  return httpStatus === 404 ? new ProtocolError(code, message, { data }) : error
}

/**
 * The requests of sessions that this replica is serving. The client may cancel a request, or end its session,
 * through another replica.
 */
export class SessionCalls {
  readonly #bySession = new Map<string, Map<RequestId, Lifetime>>()
  /** Stops the delivery of cancellations. */
  readonly close: () => void

  constructor (messages: SessionMessages, ended: Pick<EndedSessions, 'onEnd'>) {
    this.close = messages.listen((message) => {
      if (message.type !== 'call-cancelled') return
      this.#bySession.get(message.session)?.get(message.request)?.stop(new RequestCancelled())
    })
    ended.onEnd((session) => {
      const lifetimes = this.#bySession.get(session)?.values() ?? []
      for (const lifetime of lifetimes) lifetime.stop(new RequestCancelled())
    })
  }

  /** Stops the request when its client cancels it or ends the session. */
  add (session: string, request: RequestId, lifetime: Lifetime): void {
    const calls = this.#bySession.get(session) ?? new Map<RequestId, Lifetime>()
    this.#bySession.set(session, calls.set(request, lifetime))
    lifetime.onEnd(() => {
      // The client may have used the same id for a newer request.
      if (calls.get(request) === lifetime) calls.delete(request)
      if (calls.size === 0 && this.#bySession.get(session) === calls) this.#bySession.delete(session)
    })
  }
}
