// One request while it is served: its caller, its snapshot and view, its lifetime and its outlet.

import type { Principal } from '../../platform/access/principal.ts'
import type { DependencyDefinition } from '../../platform/author/define-dependency.ts'
import type { SettingsDefinition } from '../../platform/author/define-settings.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import { clock } from '../../base/time.ts'
import type { CompiledPrimitive } from '../../catalog/compiled/compiled-primitive.ts'
import { findDependency, findSettings } from '../../catalog/compiled/definitions/shared-values.ts'
import type { DependencySet } from '../../catalog/compiled/dependencies/dependency-set.ts'
import type { ResultWriter } from '../../catalog/compiled/results/result-json.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import { findUpstream } from '../../catalog/compiled/upstreams/upstream-dependency.ts'
import type { View } from '../../catalog/compiled/view.ts'
import { toPlainCapabilities, type ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import type { Meta } from '../../platform/protocol/content.ts'
import { readOwnMeta, type Envelope } from '../../platform/protocol/envelope.ts'
import type { Request, RequestId } from '../../platform/protocol/json-rpc.ts'
import { isAtLeast, type LogLevel } from '../../platform/protocol/log-levels.ts'
import {
  logNotification, progressNotification, type Progress
} from '../../platform/protocol/notifications.ts'
import { hasProgressMessage, type EraName } from '../../platform/protocol/revisions.ts'
import type { InputRound, RoundRequest } from '../questions/input-round.ts'
import type { Caller, Outlet, RequestLog } from './caller.ts'
import { Lifetime } from './lifetime.ts'
import type { GivenArguments, Observed, SpecialAnswer, UpstreamUse } from './observer.ts'
import type { RequestTrace } from './request-tracer.ts'
import { UpstreamCalls } from './upstream-calls.ts'

/** The differences between the eras that matter while a request is served. */
export interface EraSupport {
  readonly era: EraName
  /** The current snapshot, with results as this revision has them. */
  snapshotFor (revision: string): Snapshot
  /** Opens the round in which a handler may ask the client for input. */
  openRound (round: RoundRequest, request: RequestContext): InputRound
  /** The error for a client that has not declared these capabilities. */
  toMissingCapability (missing: ClientCapabilities, caller: Caller): Error
}

/** The facts for observers. Apart from RequestContext: an open stream keeps them, but not the snapshot. */
export class ObservedRequest implements Observed {
  readonly requestId: string
  readonly principal: Principal
  readonly revision: string
  /** Milliseconds of the monotonic clock. */
  readonly startedAt = clock.monotonic()
  /** Set when the method is found. */
  method: string | undefined
  /** Set when the primitive is found. */
  subject: string | undefined
  readonly isBegun = true
  /** Set when the output of a tool is known. */
  isToolError = false
  /** Set when the arguments are accepted. */
  isRepaired = false
  /** The characters of the result before a cut. */
  uncutLength = 0
  /** Set when the answer is known. */
  special: SpecialAnswer | undefined
  /** Set when the primitive is found. */
  callArguments: GivenArguments | undefined
  /** Set when the caller is refused because it lacks some of them. */
  neededScopes: readonly string[] | undefined
  /** Set when the request begins, if the service is traced. */
  trace: RequestTrace | undefined
  /** Set when an upstream is called. */
  upstreams: Map<string, UpstreamUse> | undefined
  /** Whether the trace ends with the answer. Otherwise it ends with the work that goes on. */
  endsTrace = true

  constructor ({ requestId, principal, envelope: { revision } }: Caller) {
    this.requestId = requestId
    this.principal = principal
    this.revision = revision
  }

  get traceId (): string | undefined { return this.trace?.traceId }

  /** Returns the facts of the work that goes on beside the request, and takes its outcome from these. */
  continueAs (caller: Caller): ObservedRequest {
    const { method, subject, callArguments, trace, special, isToolError } = this
    this.endsTrace = false
    this.special = undefined
    this.isToolError = false
    const work = { method, subject, callArguments, trace, special, isToolError }
    return Object.assign(new ObservedRequest(caller), work)
  }
}

export class RequestContext {
  /** The request's own JSON-RPC id. */
  readonly id: RequestId
  readonly caller: Caller
  /** Replaced when the request is answered and its work goes on, like `observed`. */
  outlet: Outlet
  readonly snapshot: Snapshot
  readonly view: View
  /** The caller's, without elicitation and tasks if the catalog calls its client plain. */
  readonly envelope: Envelope
  readonly lifetime = new Lifetime()
  observed: ObservedRequest
  /** Writes the result. That of the snapshot, unless the result may be kept. */
  writer: ResultWriter
  /** Told of progress, also if the client did not ask for it. */
  onProgress: ((progress: Progress) => void) | undefined
  readonly #message: Request
  readonly #era: EraSupport
  #meta: Readonly<Meta> | undefined
  /** While the request counts, the dependencies of its snapshot stay open. */
  #counted: DependencySet | undefined
  #progress = -Infinity
  #upstreams: UpstreamCalls | undefined

  constructor (message: Request, caller: Caller, outlet: Outlet, era: EraSupport) {
    this.id = message.id
    this.#message = message
    this.caller = caller
    this.outlet = outlet
    this.snapshot = era.snapshotFor(caller.envelope.revision)
    this.view = this.snapshot.view(caller.principal)
    this.envelope = toServedEnvelope(caller.envelope, this.snapshot.server.plainClients)
    this.writer = this.snapshot.writer
    this.observed = new ObservedRequest(caller)
    this.#era = era
    this.#counted = this.snapshot.dependencies
    this.#counted?.beginRequest()
  }

  get principal (): Principal { return this.caller.principal }
  get revision (): string { return this.caller.envelope.revision }
  get requestId (): string { return this.caller.requestId }
  get log (): RequestLog { return this.caller.log }
  /** The `_meta` of the request, without the envelope. */
  get meta (): Readonly<Meta> {
    this.#meta ??= readOwnMeta(this.#message.params)
    return this.#meta
  }

  /** The caller of upstreams. Created when the first one is called. */
  get upstreams (): UpstreamCalls {
    this.#upstreams ??= new UpstreamCalls(this)
    return this.#upstreams
  }

  end (): void {
    this.lifetime.end()
    this.releaseDependencies()
  }

  /** Says that no more code of the catalog runs for the request. */
  releaseDependencies (): void {
    this.#counted?.endRequest()
    this.#counted = undefined
  }

  /** Throws if the definition was unknown when the catalog was loaded. */
  settings<V> (definition: SettingsDefinition<V>): V {
    return findSettings(this.snapshot, definition)
  }

  /** Throws if the definition was unknown when the catalog was loaded. */
  use<T> (definition: DependencyDefinition<T>): T {
    return findDependency(this.snapshot, definition)
  }

  /**
   * Calls an upstream.
   * @param owner whose handler calls it.
   */
  async fetch (
    { upstreams }: Pick<CompiledPrimitive, 'upstreams'>, definition: UpstreamDefinition, path: string,
    init?: UpstreamInit
  ): Promise<Response> {
    return await findUpstream(this.snapshot, definition, upstreams).fetch(this.upstreams, path, init)
  }

  /** https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress */
  progress (progress: number, total?: number, message?: string): void {
    const { progressToken } = this.envelope
    const isWanted = progressToken !== undefined || this.outlet.progress !== undefined ||
      this.onProgress !== undefined
    const isAhead = progress > this.#progress && progress < Infinity
    if (!isWanted || !isAhead || !this.lifetime.isActive) return
    this.#progress = progress
    const facts = {
      progress,
      ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
      ...(message === undefined || !hasProgressMessage(this.revision) ? {} : { message })
    }
    this.onProgress?.(facts)
    if (this.outlet.progress !== undefined) this.outlet.progress(facts)
    else if (progressToken !== undefined) this.outlet.notify(progressNotification(progressToken, facts))
  }

  /** Tells a message without a number of its own. */
  progressMessage (message: string): void {
    this.progress(this.#progress === -Infinity ? 1 : this.#progress + 1, undefined, message)
  }

  /** https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging */
  sendLogMessage (level: LogLevel, message: string, data?: object): void {
    const { logLevel } = this.envelope
    if (logLevel === undefined || !this.lifetime.isActive || !isAtLeast(level, logLevel)) return
    this.outlet.notify(toLogNotification(level, message, data), level)
  }

  /** Opens the round in which the handler may ask the client for input. */
  openRound (round: RoundRequest): InputRound {
    return this.#era.openRound(round, this)
  }

  /**
   * Parts the work from the request. The work goes on here, with an outlet and with facts of its own. The
   * returned context is that of the request, which waits for its answer.
   */
  handOver (outlet: Outlet): RequestContext {
    const waiting = new RequestContext(this.#message, this.caller, this.outlet, this.#era)
    waiting.observed = this.observed
    waiting.#progress = this.#progress
    const { reason } = this.lifetime
    if (reason !== undefined) waiting.lifetime.stop(reason)
    // From here a lost connection ends the waiting request, not the work.
    this.lifetime.outliveClient()
    this.outlet = outlet
    this.onProgress = undefined
    this.observed = waiting.observed.continueAs(this.caller)
    return waiting
  }

  /** Returns the error for a client that has not declared these capabilities. */
  toMissingCapability (missing: ClientCapabilities): Error {
    return this.#era.toMissingCapability(missing, this.caller)
  }

  /** Closes the connection while the request continues. Does nothing when the client could not reconnect. */
  disconnect (retryMs: number): void {
    if (this.lifetime.isActive) this.outlet.disconnect?.(retryMs)
  }
}

function toLogNotification (level: LogLevel, message: string, data: object | undefined): string {
  if (data === undefined) return logNotification(level, message)
  try {
    return logNotification(level, { message, ...data })
  } catch {
    // `data` has a cycle or a bigint. It is left out: a log message must not make its handler throw.
    return logNotification(level, message)
  }
}

function toServedEnvelope (envelope: Envelope, plainClients: readonly string[] = []): Envelope {
  const { clientInfo, clientCapabilities } = envelope
  if (clientInfo === undefined || !plainClients.includes(clientInfo.name)) return envelope
  return { ...envelope, clientCapabilities: toPlainCapabilities(clientCapabilities) }
}

/** Notes that a request names a primitive which its caller does not see. The client learns nothing of it. */
export function noteHidden (
  { view, observed }: RequestContext, kind: Parameters<View['hidden']>[0], name: string
): void {
  const primitive = view.hidden(kind, name)
  if (primitive === undefined) return
  observed.subject = primitive.key
  observed.special = 'denied'
  observed.neededScopes = primitive.seenWith?.[0] ?? primitive.scopes
}
