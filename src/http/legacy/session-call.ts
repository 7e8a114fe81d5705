// One request of a session, from its message to its answer. Its client may leave and come back: that does not end it.

import type { FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Snapshot } from '../../catalog/snapshot.ts'
import { errorResult } from '../../catalog/tool-result-json.ts'
import type { Dispatcher } from '../../dispatch/dispatcher.ts'
import { RequestCancelled } from '../../dispatch/endings.ts'
import type { Outcome } from '../../dispatch/method.ts'
import { findUndeclared } from '../../input/client-needs.ts'
import type { InputRounds } from '../../input/sealed-input-round.ts'
import type { Questions } from '../../input/questions.ts'
import { describeLack, LiveInputRound } from '../../legacy/live-input-round.ts'
import type { SessionRelay } from '../../legacy/session-relay.ts'
import { SessionRequestContext } from '../../legacy/session-request-context.ts'
import type { Session } from '../../legacy/session.ts'
import { readProgressToken, type Envelope } from '../../protocol/envelope.ts'
import { isObject, toErrorResponse, type Request, type RequestId } from '../../protocol/json-rpc.ts'
import type { InFlight } from '../in-flight.ts'
import { toReadyResponse } from '../ready-answers.ts'
import { CallOutlet, type CallOutletParts } from './call-outlet.ts'
import type { CallReply } from './call-reply.ts'
import { toLegacyError } from './failures.ts'

export interface SessionCallParts extends CallOutletParts {
  readonly catalog: Catalog
  readonly snapshotIn: (snapshot: Snapshot, revision: string) => Snapshot
  readonly dispatcher: Dispatcher
  readonly questions: Questions
  readonly inFlight: InFlight
  readonly relay: SessionRelay
}

export interface SessionCalls {
  call (message: Request, session: Session, request: FastifyRequest, into: CallReply): void
  /** Resolves when none is being served any more, or the time is up. */
  settled (timeoutMs: number): Promise<void>
  close (): void
}

/** A call that takes longer gets a stream that its client can come back to. */
const PREPARE_AFTER_MS = 1000

export function createSessionCalls (parts: SessionCallParts): SessionCalls {
  const { catalog, snapshotIn, dispatcher, questions, inFlight, relay } = parts
  const lasting = new Map<string, SessionRequestContext>()
  let onIdle: (() => void) | undefined
  const keyOf = (session: string, request: RequestId) => `${session} ${JSON.stringify(request)}`

  const stopListening = relay.listen((message) => {
    if (message.type === 'call-cancelled') lasting.get(keyOf(message.session, message.request))?.abort(new RequestCancelled())
    if (message.type !== 'session-ended') return
    for (const context of lasting.values()) if (context.session.id === message.session) context.abort(new RequestCancelled())
  })

  /** Most requests are answered in the turn of the event loop in which they came. */
  function watch (context: SessionRequestContext, into: CallReply, outlet: CallOutlet): void {
    setImmediate(() => {
      if (context.isEnded) return
      const key = keyOf(context.session.id, context.id)
      const forget = inFlight.addDetached(context)
      // Which has started its clock.
      if (outlet.isAsking) context.stopClock()
      const timer = setTimeout(() => into.prepare(), PREPARE_AFTER_MS)
      lasting.set(key, context)
      context.onEnd = () => {
        forget()
        clearTimeout(timer)
        if (lasting.get(key) === context) lasting.delete(key)
        if (lasting.size === 0) onIdle?.()
      }
    })
  }

  function open (message: Request, session: Session, request: FastifyRequest, outlet: CallOutlet): SessionRequestContext {
    const { params } = message
    const line = new LiveInputRound(questions, session, outlet)
    const inputRounds: InputRounds = { open: () => line }
    return new SessionRequestContext(session, {
      id: message.id,
      snapshot: snapshotIn(catalog.current, session.revision),
      principal: request.principal,
      envelope: toEnvelope(session, isObject(params?._meta) ? params._meta.progressToken : undefined),
      requestId: request.id,
      log: request.log,
      inputRounds
    }, outlet)
  }

  function run (message: Request, context: SessionRequestContext): Outcome | Promise<Outcome> {
    // Earlier revisions let a request go without, where nothing in them is required.
    const call = dispatcher.find(message.method).open(message.params ?? {}, context)
    const { requiredCapabilities } = call
    const missing = requiredCapabilities === undefined ? undefined : findUndeclared(context.session.clientCapabilities, requiredCapabilities)
    return missing === undefined ? call.handle() : errorResult(context.snapshot.writer, describeLack(missing))
  }

  return {
    call (message, session, request, into) {
      const outlet = new CallOutlet(into, session, parts)
      request.mcp.method ??= message.method
      const finish = (outcome: Outcome, context: SessionRequestContext) => {
        context.end()
        if (typeof outcome === 'object' && !Buffer.isBuffer(outcome)) throw new TypeError('no method of a session answers with a stream')
        outlet.whenSaid(() => into.respond(toReadyResponse(message.id, outcome)))
      }
      const fail = (error: unknown, context?: SessionRequestContext) => {
        context?.end()
        if (error instanceof RequestCancelled) outlet.whenSaid(() => into.leaveOut())
        else outlet.whenSaid(() => into.respond(toErrorResponse(message.id, toLegacyError(error, request))))
      }
      let context: SessionRequestContext | undefined
      try {
        const opened = open(message, session, request, outlet)
        outlet.context = context = opened
        request.mcp.context = opened
        const outcome = run(message, opened)
        if (!(outcome instanceof Promise)) return finish(outcome, opened)
        watch(opened, into, outlet)
        outcome.then((settled) => finish(settled, opened)).catch((error: unknown) => fail(error, opened))
      } catch (error) {
        fail(error, context)
      }
    },
    async settled (timeoutMs) {
      if (lasting.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    close: stopListening
  }
}

/** What the current era says with each request. Which log messages go out is decided later: only the session knows. */
function toEnvelope ({ revision, clientCapabilities, clientInfo }: Session, progressToken: unknown): Envelope {
  return { revision, clientCapabilities, clientInfo, logLevel: 'debug', progressToken: readProgressToken(progressToken) }
}
