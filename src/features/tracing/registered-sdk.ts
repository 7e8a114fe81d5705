// The SDK of OpenTelemetry that is registered in this process, by this service or by the operator.

import { INVALID_SPAN_CONTEXT, ROOT_CONTEXT, trace, TraceFlags, type Tracer } from '@opentelemetry/api'

const TRACER_NAME = 'trivet'

/** `undefined` if no SDK makes spans. */
export function findTracer (): Tracer | undefined {
  const tracer = trace.getTracer(TRACER_NAME)
  const parent = {
    traceId: '1'.padStart(32, '0'), spanId: '1'.padStart(16, '0'), traceFlags: TraceFlags.NONE, isRemote: true
  }
  // The API alone hands on the parent; an SDK makes a span of its own. The probe is never ended, so no
  // exporter gets it, and the parent is not sampled, so most SDKs do not record it.
  const probe = tracer.startSpan('probe', {}, trace.setSpanContext(ROOT_CONTEXT, parent)).spanContext()
  return probe.spanId === parent.spanId || probe.spanId === INVALID_SPAN_CONTEXT.spanId ? undefined : tracer
}

/**
 * Sends the spans that wait, if the SDK can be asked to. The classes may be those of another copy of the API,
 * which the operator has.
 */
export async function flushRegisteredSdk (): Promise<void> {
  const provider: object = trace.getTracerProvider()
  const sdk: unknown = 'getDelegate' in provider && typeof provider.getDelegate === 'function'
    ? provider.getDelegate()
    : provider
  const flush: unknown = Reflect.get(Object(sdk), 'forceFlush')
  if (typeof flush === 'function') await Reflect.apply(flush, sdk, [])
}
