// The definition of an MCP method. Each file in methods/ provides one, and says everything about its method.

import type { LargeJson } from '../../catalog/compiled/results/large-json.ts'
import type { CallLimits } from '../../platform/limits/call-limits.ts'
import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import type { MirroredField } from '../../platform/protocol/header-values.ts'
import type { EraName } from '../../platform/protocol/revisions.ts'
import { createParamsReader } from '../../platform/schema/reader.ts'
import type { Static, FormatSchema } from '../../platform/schema/type.ts'
import type { MessageSink } from '../../platform/store/changes/message-sink.ts'
import type { Outlet } from './caller.ts'
import type { GivenArguments } from './observer.ts'
import type { RequestContext } from './request-context.ts'

/** An answer that is a stream of messages. The result is its last message. */
export interface StreamOpening { open (sink: MessageSink): void }

/** The work goes on beside the request, and may outlast it. */
export interface Continuation {
  /** Returns or resolves to the result that is the answer, as JSON. */
  answer (waiting: RequestContext): string | Promise<string>
  /** The result of the work. */
  readonly work: Promise<string>
  /** Gets what the work says and how it ends, as if it had been the outlet of the request. */
  readonly outlet: Outlet
}

/** The result as JSON, a stream, or work that goes on beside the request. */
export type Outcome = string | Buffer | LargeJson | StreamOpening | Continuation

/** A request whose params are valid and whose primitive was found. */
export interface Call {
  /** The key of the primitive, for the log. */
  readonly subject?: string
  /** The capabilities that the client must have declared. */
  readonly requiredCapabilities?: ClientCapabilities | undefined
  /** The `Mcp-Param-*` headers that must mirror the params. */
  readonly mirroredParams?: readonly MirroredField[]
  /** The limits of the primitive's own. Absent if no limit of calls holds for the method. */
  readonly limits?: CallLimits | undefined
  /** What the client gave to the primitive. */
  readonly callArguments?: GivenArguments | undefined
  /** A ProtocolError that it throws is sent to the client. Any other error ends as `toProtocolError` says. */
  handle (): Outcome | Promise<Outcome>
  /** Returns or resolves to the result for an error, as JSON. Throws if there is none. */
  recover? (error: unknown, request: RequestContext): string | Promise<string>
}

export interface Method {
  readonly name: string
  readonly eras: readonly EraName[]
  /** The parameter that the `Mcp-Name` header mirrors. */
  readonly mirroredName: string | undefined
  /** Whether each answer is a stream. */
  readonly mustStream: boolean
  /** Throws a ProtocolError when the params are invalid or name a primitive that the caller may not use. */
  open (params: unknown, request: RequestContext): Call
}

export interface MethodOptions<T extends FormatSchema> {
  readonly name: string
  /** Both by default. */
  readonly eras?: readonly EraName[]
  /** The schema of the params. The type of the params is inferred from it. */
  readonly params: T
  /** None by default. */
  readonly mirroredName?: string & keyof Static<T>
  /** `false` by default. */
  readonly mustStream?: boolean
  /** Finds the primitive of the request. Throws a ProtocolError when the caller may not use it. */
  open (params: Static<T>, request: RequestContext): Call
}

const BOTH_ERAS: readonly EraName[] = ['modern', 'legacy']

/** The params are checked before `open` is called. */
export function defineMethod<T extends FormatSchema> (
  { name, eras = BOTH_ERAS, params, mirroredName, mustStream = false, open }: MethodOptions<T>
): Method {
  const readParams = createParamsReader(params)
  return {
    name,
    eras,
    mirroredName,
    mustStream,
    open: (unchecked, request) => open(readParams(unchecked), request)
  }
}
