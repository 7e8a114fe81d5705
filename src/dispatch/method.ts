// What a file in methods/ provides: one MCP method, and all that is to be known of it.

import type { Static, TSchema } from 'typebox'
import type { MessageSink } from '../events/message-sink.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { MirroredField } from '../protocol/header-values.ts'
import type { EraName } from '../protocol/revisions.ts'
import { createParamsReader } from '../schema/params.ts'
import type { RequestContext } from './request-context.ts'

/** The answer is a stream, which ends with the result. */
export interface StreamOpening { open (sink: MessageSink): void }

/** The result as JSON, or a stream. */
export type Outcome = string | Buffer | StreamOpening

/** A request whose params are right, and that has found what it is about. */
export interface Call {
  /** The key of the primitive that it is about: what the log says of it. */
  readonly subject: string | undefined
  /** What the client must be capable of for it. */
  readonly requiredCapabilities: ClientCapabilities | undefined
  /** The `Mcp-Param-*` headers that must mirror it. */
  readonly mirroredParams: readonly MirroredField[]
  /** Throws a ProtocolError where the protocol fails; anything else that it throws is an internal error. */
  handle (): Outcome | Promise<Outcome>
  /**
   * The result that tells of an error of the call. Throws, with that error or another, what no result tells.
   */
  recover (error: unknown): string
}

/** A call without what it does not need. */
export type CallOptions = Pick<Call, 'handle'> & {
  readonly [K in Exclude<keyof Call, 'handle'>]?: Call[K] | undefined
}

export interface Method {
  readonly name: string
  readonly eras: readonly EraName[]
  /** The parameter that the `Mcp-Name` header mirrors. */
  readonly mirroredName: string | undefined
  /** Throws a ProtocolError where the params are wrong, or name a primitive that the caller does not have. */
  open (params: unknown, request: RequestContext): Call
}

export interface MethodOptions<T extends TSchema> {
  readonly name: string
  /** Both by default. */
  readonly eras?: readonly EraName[]
  /** The schema of the params, which is also their type. */
  readonly params: T
  /** None by default. */
  readonly mirroredName?: string & keyof Static<T>
  /** Finds what the request is about. Throws a ProtocolError where the caller has no such primitive. */
  open (params: Static<T>, request: RequestContext): CallOptions
}

const BOTH_ERAS: readonly EraName[] = ['modern', 'legacy']
const NO_FIELDS: readonly MirroredField[] = []

function recoverNothing (error: unknown): never {
  throw error
}

/** No method sees unchecked params. */
export function defineMethod<T extends TSchema> (
  { name, eras = BOTH_ERAS, params, mirroredName, open }: MethodOptions<T>
): Method {
  const readParams = createParamsReader(params)
  return {
    name,
    eras,
    mirroredName,
    open (given, request) {
      const {
        subject, requiredCapabilities, mirroredParams = NO_FIELDS, handle, recover = recoverNothing
      } = open(readParams(given), request)
      return { subject, requiredCapabilities, mirroredParams, handle, recover }
    }
  }
}
