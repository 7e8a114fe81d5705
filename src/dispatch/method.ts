// What a file in methods/ provides: one MCP method.

import type { MessageSink } from '../events/message-sink.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { MirroredField } from '../protocol/header-values.ts'
import type { RequestContext } from './request-context.ts'

/** The answer is a stream that stays open; `open` is called once it is. */
export interface StreamOpening { open (sink: MessageSink): void }

/** The result as JSON, or a stream. */
export type Outcome = string | Buffer | StreamOpening

/** A request that has found its method, and whose params are right. */
export interface Call {
  /** What the client must be capable of for it. */
  readonly requiredCapabilities: ClientCapabilities | undefined
  /** The `Mcp-Param-*` headers that must mirror it. */
  readonly mirroredParams: readonly MirroredField[]
  handle (): Outcome | Promise<Outcome>
}

export interface Method {
  readonly name: string
  /** Throws a ProtocolError where the params are wrong. */
  open (params: unknown, context: RequestContext): Call
}

export interface MethodOptions<P> {
  name: string
  /** Throws invalid params. */
  readParams (params: unknown): P
  requiredCapabilities? (params: P, context: RequestContext): ClientCapabilities | undefined
  mirroredParams? (params: P, context: RequestContext): readonly MirroredField[]
  /** Throws a ProtocolError where the protocol fails; anything else that it throws is an internal error. */
  handle (params: P, context: RequestContext): Outcome | Promise<Outcome>
}

const NONE: readonly MirroredField[] = []

/** A handler cannot see unchecked params: its params are what `readParams` returned. */
export function defineMethod<P> ({ name, readParams, requiredCapabilities, mirroredParams, handle }: MethodOptions<P>): Method {
  return {
    name,
    open (rawParams, context) {
      const params = readParams(rawParams)
      return {
        requiredCapabilities: requiredCapabilities?.(params, context),
        mirroredParams: mirroredParams?.(params, context) ?? NONE,
        handle: () => handle(params, context)
      }
    }
  }
}
