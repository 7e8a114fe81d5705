// The interface of traces. A service without traces has no tracer, and a request costs nothing for it.

import type { Handles } from '../../platform/author/handles.ts'
import type { UpstreamSpan } from '../../catalog/compiled/upstreams/open-upstream.ts'
import type { Request } from '../../platform/protocol/json-rpc.ts'
import type { Caller, RequestHeaders } from './caller.ts'
import type { Ending, Observed } from './observer.ts'

/** An HTTP request that reached no method: it was refused, or its message needs no response. */
export interface UnservedRequest {
  /** The HTTP method. */
  readonly method: string
  readonly headers: RequestHeaders
  /** The message, unchecked. Absent if it was not read. */
  readonly body: unknown
}

/** Must not throw. */
export interface RequestTracer {
  /**
   * Begins the span of a request.
   * @param method the method of the message, if the service has it.
   */
  begin (message: Request, method: string | undefined, caller: Caller): RequestTrace
  /**
   * Makes the span of a request that has ended.
   * @param method the method of the message, if the message was read and the service has its method.
   * @returns the id of its trace. `undefined` if the request is not recorded.
   */
  traceUnserved (request: UnservedRequest, method: string | undefined, ending: Ending): string | undefined
}

/** The spans of one request. */
export interface RequestTrace {
  /** The id of the trace. `undefined` if this request is not recorded. */
  readonly traceId: string | undefined
  /**
   * Runs the handler in a span below that of the request. Spans of libraries that the handler uses hang below
   * it. The output is a promise if the handler returned a thenable.
   */
  runHandler<T> (observed: Observed, run: () => T | Promise<T>): T | Promise<T>
  /** Runs a part of the handler in a span of its own. */
  span<T> (name: string, fn: () => T | Promise<T>): Promise<T>
  /** The same handles, with a span for each operation. */
  handles<T> (kind: string, handles: Handles<T>): Handles<T>
  /** Begins the span of a call of an upstream. */
  upstream (method: string, name: string, host: string): UpstreamSpan
  /** Ends the span of the request. */
  end (observed: Observed, ending: Ending): void
}
