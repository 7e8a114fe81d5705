// Finds the parent of a request's span.
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md#context-propagation

import {
  context, createContextKey, ROOT_CONTEXT, trace, type Context, type Link, type TextMapGetter
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { RequestHeaders } from '../../request/pipeline/caller.ts'

/** Longer values are ignored. A `traceparent` has 55 characters, a `tracestate` is valid up to 512. */
const MAX_VALUE_LENGTH = 512

/** In every context of a request: the request's trace. */
export const OWN_TRACE = createContextKey('trivet.trace')

export interface SpanParent {
  readonly context: Context
  /** The transport's span, when the message names another one as its parent. */
  readonly links: Link[]
}

const propagator = new W3CTraceContextPropagator()
const NO_LINKS: Link[] = []

const getter: TextMapGetter<RequestHeaders> = {
  keys: () => propagator.fields(),
  get (carrier, key) {
    const value = key === 'traceparent' ? carrier.traceparent : carrier.tracestate
    return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH ? value : undefined
  }
}

/**
 * The message's own `_meta` comes first, then the span that is active because the operator instruments HTTP,
 * then the headers. Values that are not valid count as absent. `baggage` is not read: instrumented clients
 * would send it on to every service that a handler calls.
 */
export function findParent (meta: unknown, headers: RequestHeaders | undefined): SpanParent {
  const named = isObject(meta) ? extract(meta) : undefined
  const active = findActive()
  if (named === undefined && active !== undefined) return { context: active, links: NO_LINKS }
  const carried = active ?? (headers === undefined ? undefined : extract(headers))
  if (named === undefined) return { context: carried ?? ROOT_CONTEXT, links: NO_LINKS }
  const transport = carried === undefined ? undefined : trace.getSpanContext(carried)
  return { context: named, links: transport === undefined ? NO_LINKS : [{ context: transport }] }
}

/** A context of another request may be active, such as that of the request before in a batch. */
function findActive (): Context | undefined {
  const active = context.active()
  return trace.getSpan(active) === undefined || active.getValue(OWN_TRACE) !== undefined ? undefined : active
}

function extract (carrier: RequestHeaders): Context | undefined {
  if (carrier.traceparent === undefined) return undefined
  const extracted = propagator.extract(ROOT_CONTEXT, carrier, getter)
  return trace.getSpanContext(extracted) === undefined ? undefined : extracted
}
