// Opens traces: the SDK of OpenTelemetry, if there is one, and the tracer of the requests. This file imports
// nothing of OpenTelemetry at its top.

import { withinDeadline } from '../../base/deadline.ts'
import { createOutageLog } from '../../base/outage-log.ts'
import type { RequestTracer } from '../../request/pipeline/request-tracer.ts'
import type { ExportLog } from './trace-export.ts'

/** Traces that leave the process. */
export interface TraceSink {
  /** Sends the spans that wait. Resolves after `CLOSE_MS` in any case. */
  close (): Promise<void>
}

/** How long the last spans may take to reach the collector, in milliseconds. */
const CLOSE_MS = 2000

/** Where every copy of the API keeps what was registered. Loading the API to ask it takes time. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** `undefined` if no SDK is registered: requests are then not traced. */
export async function openRequestTracer (log: ExportLog): Promise<RequestTracer | undefined> {
  if (!hasRegistry()) return undefined
  const { findTracer } = await import('./registered-sdk.ts')
  const tracer = findTracer()
  if (tracer === undefined) return undefined
  const { createRequestTracer } = await import('./request-spans.ts')
  const { createUnservedTracer } = await import('./unserved-spans.ts')
  log.info({}, 'requests are traced')
  return { ...createRequestTracer(tracer), ...createUnservedTracer(tracer) }
}

interface TraceSinkOptions {
  /** The URL of the collector. `undefined`: the service registers no SDK. */
  readonly url: string | undefined
  readonly readVersion: () => string
  readonly log: ExportLog
}

/** Registers an SDK, unless the operator has registered one. To be called before the app is built. */
export async function openTraceSink (
  { url, readVersion, log }: TraceSinkOptions
): Promise<TraceSink | undefined> {
  const flush = await findFlush()
  if (flush !== undefined) {
    if (url !== undefined) log.warn({}, 'TRIVET_OTLP_URL is not used: an SDK of OpenTelemetry is registered')
    return { close: async () => await withinLimit(flush()) }
  }
  if (url === undefined) return undefined
  const { startTraceExport } = await import('./trace-export.ts')
  const onDropped = createOutageLog({ log, message: 'spans were dropped: the collector is too slow' })
  const sdk = startTraceExport({ url, serviceVersion: readVersion(), log, onDropped })
  return { close: async () => await withinLimit(sdk.shutdown()) }
}

/** Sends the waiting spans of the operator's SDK. `undefined` if there is none. */
async function findFlush (): Promise<(() => Promise<void>) | undefined> {
  if (!hasRegistry()) return undefined
  const { findTracer, flushRegisteredSdk } = await import('./registered-sdk.ts')
  return findTracer() === undefined ? undefined : flushRegisteredSdk
}

function hasRegistry (): boolean {
  return REGISTRY in globalThis
}

/** Resolves in any case: the exporter reports its own errors. */
async function withinLimit (closing: Promise<void>): Promise<void> {
  await withinDeadline(closing, CLOSE_MS, () => new Error('the collector is late')).catch(() => {})
}
