// The spans of calls of upstreams.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span

import {
  context, SpanKind, trace, TraceFlags, type Context, type Span, type Tracer
} from '@opentelemetry/api'
import { suppressTracing } from '@opentelemetry/core'
import type { UpstreamSpan } from '../../catalog/compiled/upstreams/open-upstream.ts'
import { ATTR_HTTP_METHOD, ATTR_HTTP_STATUS, markFailed } from './conventions.ts'

const ATTR_SERVER_ADDRESS = 'server.address'

interface UpstreamTarget { readonly method: string, readonly name: string, readonly host: string }

/** Neither the name nor an attribute has the path: it may have arguments. */
export function startUpstreamSpan (
  tracer: Tracer, parent: Context, { method, name, host }: UpstreamTarget
): UpstreamSpan {
  const attributes = { [ATTR_HTTP_METHOD]: method, [ATTR_SERVER_ADDRESS]: host }
  const span = tracer.startSpan(`${method} ${name}`, { kind: SpanKind.CLIENT, attributes }, parent)
  const spanContext = trace.setSpan(parent, span)
  return {
    traceparent: toTraceparent(span),
    // An instrumented undici would make a second span, and send a second header.
    run: (send) => context.with(suppressTracing(spanContext), send),
    end (end) {
      if ('status' in end) span.setAttribute(ATTR_HTTP_STATUS, end.status)
      if ('error' in end) markFailed(span, end.error)
      else if (end.status >= 400) markFailed(span, String(end.status))
      span.end()
    }
  }
}

/**
 * For a request that is not recorded, or has too many spans: the upstream must not begin a trace of its own.
 */
export function passOnSpan (parent: Context): UpstreamSpan {
  const span = trace.getSpan(parent)
  return {
    traceparent: span === undefined ? '' : toTraceparent(span),
    run: (send) => context.with(suppressTracing(parent), send),
    end () {}
  }
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function toTraceparent (span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`
}
