// The spans of HTTP requests that reached no method: refused ones, and messages that need no response.

import { SpanKind, TraceFlags, type Attributes, type Tracer } from '@opentelemetry/api'
import { clock } from '../../base/time.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { CLIENT_NOTIFICATIONS } from '../../platform/protocol/notifications.ts'
import type { Ending } from '../../request/pipeline/observer.ts'
import type { RequestTracer } from '../../request/pipeline/request-tracer.ts'
import {
  ATTR_CANCELLED, ATTR_HTTP_METHOD, ATTR_HTTP_STATUS, ATTR_METHOD, ATTR_STATUS_CODE, ATTR_TRANSPORT,
  markFailed, OTHER_METHOD
} from './conventions.ts'
import { findParent } from './trace-parent.ts'

/** The methods that the conventions of HTTP name. A client may send any text as its method. */
const HTTP_METHODS = new Set(['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS'])

export function createUnservedTracer (tracer: Tracer): Pick<RequestTracer, 'traceUnserved'> {
  return {
    traceUnserved ({ method: httpMethod, headers, body }, method = readNotificationMethod(body), ending) {
      const { context, links } = findParent(readMeta(body), headers)
      const verb = HTTP_METHODS.has(httpMethod) ? httpMethod : OTHER_METHOD
      const attributes = toAttributes(verb, method, ending)
      // Both in milliseconds since 1970: the SDK would end a span with a given start by another clock.
      const endTime = clock.now()
      const startTime = endTime - ending.durationMs
      const options = { kind: SpanKind.SERVER, startTime, attributes, links }
      const span = tracer.startSpan(method ?? verb, options, context)
      const { status = 0 } = ending
      // The convention of HTTP: an error of the client is no failure of the server.
      if (status >= 500) markFailed(span, String(status))
      span.end(endTime)
      const { traceId, traceFlags } = span.spanContext()
      return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : traceId
    }
  }
}

function toAttributes (
  httpMethod: string, method: string | undefined, { status, protocolError, isCancelled }: Ending
): Attributes {
  return {
    [ATTR_HTTP_METHOD]: httpMethod,
    [ATTR_TRANSPORT]: 'tcp',
    ...(status !== undefined && { [ATTR_HTTP_STATUS]: status }),
    ...(method !== undefined && { [ATTR_METHOD]: method }),
    ...(protocolError !== undefined && { [ATTR_STATUS_CODE]: String(protocolError.code) }),
    ...(isCancelled && { [ATTR_CANCELLED]: true })
  }
}

function readNotificationMethod (body: unknown): string | undefined {
  return isObject(body) && typeof body.method === 'string' && CLIENT_NOTIFICATIONS.has(body.method)
    ? body.method
    : undefined
}

function readMeta (body: unknown): unknown {
  return isObject(body) && isObject(body.params) ? body.params._meta : undefined
}
