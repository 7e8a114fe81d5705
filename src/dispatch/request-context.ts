// One request on its way through the service: what it may use, how long it lives, and where it can say something.

import type { Principal } from '../access/principal.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { View } from '../catalog/view.ts'
import type { InputRounds } from '../input/sealed-input-round.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { RequestId } from '../protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../protocol/log-levels.ts'
import { logNotification, progressNotification } from '../protocol/notifications.ts'
import { hasProgressMessage } from '../protocol/revision-features.ts'
import { HandlerTimeout } from './endings.ts'

/** The service's log, as far as a request uses it. */
export interface RequestLog {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

/** Where a request can say something before its result. */
export interface Outlet {
  /**
   * Sends a notification on the request's own stream.
   * @param level of a log message
   */
  notify (json: string, level?: LogLevel): void
  /** Lets go of the connection while the request goes on, where the client can come back for the rest. */
  disconnect? (retryMs: number): void
}

export interface RequestFacts {
  /** The request's own JSON-RPC id. */
  readonly id: RequestId
  readonly snapshot: Snapshot
  readonly principal: Principal
  readonly envelope: Envelope
  /** The id under which the log has this request. */
  readonly requestId: string
  readonly log: RequestLog
  /** How the client is asked, where that is not by the request's own result. */
  readonly inputRounds?: InputRounds
}

export class RequestContext {
  readonly id: RequestId
  readonly snapshot: Snapshot
  readonly view: View
  readonly principal: Principal
  readonly envelope: Envelope
  readonly requestId: string
  readonly log: RequestLog
  readonly inputRounds: InputRounds | undefined
  /** What the log says of the request: the primitive, never its arguments. */
  subject: string | undefined
  /** Called when what is being done must stop. */
  onAbort: ((reason: Error) => void) | undefined
  /** Called when the answer is on its way. */
  onEnd: (() => void) | undefined
  readonly #outlet: Outlet
  #timeoutMs: number | undefined
  #isTimed = false
  #timer: NodeJS.Timeout | undefined
  // Made when somebody asks for the signal: most handlers never do.
  #controller: AbortController | undefined
  #reason: Error | undefined
  #isAborted = false
  #ended = false
  #progress = -Infinity

  constructor ({ id, snapshot, principal, envelope, requestId, log, inputRounds }: RequestFacts, outlet: Outlet) {
    this.id = id
    this.snapshot = snapshot
    this.view = snapshot.view(principal)
    this.principal = principal
    this.envelope = envelope
    this.requestId = requestId
    this.log = log
    this.inputRounds = inputRounds
    this.#outlet = outlet
  }

  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Ends the request's life early: what is being done for it stops. Only the first reason counts. */
  abort (reason: Error): void {
    if (this.#reason === undefined && !this.#ended) this.#isAborted = true
    this.stop(reason)
  }

  /** Stops what is being done for the request, which is answered all the same. Only the first reason counts. */
  stop (reason: Error): void {
    if (this.#reason !== undefined || this.#ended) return
    this.#reason = reason
    clearTimeout(this.#timer)
    this.#controller?.abort(reason)
    this.onAbort?.(reason)
  }

  /** Whether it ended early, so that no result is due. */
  get isAborted (): boolean {
    return this.#isAborted
  }

  /** How long what is being done may take, from now or from when the clock starts. */
  limit (timeoutMs: number): void {
    this.#timeoutMs = timeoutMs
    if (this.#isTimed) this.startClock()
  }

  /** Most requests are answered within the turn of the event loop in which they came, and never need a clock. */
  startClock (): void {
    const timeoutMs = this.#timeoutMs
    this.#isTimed = true
    clearTimeout(this.#timer)
    if (timeoutMs !== undefined && this.#reason === undefined && !this.#ended) this.#timer = setTimeout(() => this.stop(new HandlerTimeout(timeoutMs)), timeoutMs)
  }

  disconnect (retryMs: number): void {
    if (!this.#isSilent) this.#outlet.disconnect?.(retryMs)
  }

  /** While the client is asked, time is not the handler's. */
  stopClock (): void {
    this.#isTimed = false
    clearTimeout(this.#timer)
  }

  /** Once the answer is on its way nothing more may be said. */
  end (): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.onEnd?.()
  }

  get isEnded (): boolean {
    return this.#ended
  }

  get #isSilent (): boolean {
    return this.#ended || this.#reason !== undefined
  }

  /** https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress */
  progress (progress: number, total?: number, message?: string): void {
    const { progressToken } = this.envelope
    if (progressToken === undefined || this.#isSilent || !(progress > this.#progress && progress < Infinity)) return
    this.#progress = progress
    this.#outlet.notify(progressNotification(progressToken, {
      progress,
      ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
      ...(message === undefined || !hasProgressMessage(this.envelope.revision) ? {} : { message })
    }))
  }

  /** https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging */
  tell (level: LogLevel, message: string, data?: object): void {
    const { logLevel } = this.envelope
    if (logLevel === undefined || this.#isSilent || !isAtLeast(level, logLevel)) return
    this.#outlet.notify(toLogNotification(level, message, data), level)
  }
}

function toLogNotification (level: LogLevel, message: string, data: object | undefined): string {
  if (data === undefined) return logNotification(level, message)
  try {
    return logNotification(level, { message, ...data })
  } catch {
    // A cycle, or a bigint: what has no JSON is left out, because a log message must not make its handler fail.
    return logNotification(level, message)
  }
}
