// The SDK of OpenTelemetry, with an exporter to a collector. Its own variables set the rest:
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_* and OTEL_EXPORTER_OTLP_*.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

import { diag, DiagLogLevel } from '@opentelemetry/api'
import { ExportResultCode, type ExportResult } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource, detectResources, envDetector, resourceFromAttributes
} from '@opentelemetry/resources'
import {
  BatchSpanProcessor, NodeTracerProvider, type ReadableSpan, type SpanExporter
} from '@opentelemetry/sdk-trace-node'

export interface ExportLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
}

interface TraceExportOptions {
  /** The URL of the collector. */
  readonly url: string
  readonly serviceVersion: string
  readonly log: ExportLog
  /** Called when spans were dropped, because they come faster than the collector takes them. */
  readonly onDropped: (message: unknown) => void
}

const SERVICE_NAME = 'trivet'
const TRACES_PATH = '/v1/traces'

/** Registers the SDK for the whole process. Spans wait in a bounded queue: it drops those that do not fit. */
export function startTraceExport (
  { url, serviceVersion, log, onDropped }: TraceExportOptions
): { shutdown (): Promise<void> } {
  const silent = () => {}
  const logger = { error: silent, warn: onDropped, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const service = resourceFromAttributes({ 'service.name': SERVICE_NAME, 'service.version': serviceVersion })
  const exporter = new ReportingExporter(new OTLPTraceExporter({ url: toTracesUrl(url) }), log)
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(service).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)]
  })
  provider.register()
  return provider
}

/** A collector takes traces at a path of its own, which operators usually leave out. */
function toTracesUrl (text: string): string {
  const url = new URL(text)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith(TRACES_PATH) ? path : `${path}${TRACES_PATH}`
  return url.href
}

/** Tells the log when the collector stops taking spans, and when it takes them again. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #log: ExportLog
  #isFailing = false
  #lostSpans = 0

  constructor (exporter: SpanExporter, log: ExportLog) {
    this.#exporter = exporter
    this.#log = log
  }

  export (spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#succeed()
      else this.#fail(spans.length, result.error)
      done(result)
    })
  }

  async shutdown (): Promise<void> { await this.#exporter.shutdown() }

  async forceFlush (): Promise<void> { await this.#exporter.forceFlush?.() }

  #fail (spans: number, error: Error | undefined): void {
    this.#lostSpans += spans
    if (this.#isFailing) return
    this.#isFailing = true
    // Only the message: the error may have the collector's whole answer.
    this.#log.warn({ reason: error?.message, spans }, 'the collector does not take spans: they are lost')
  }

  #succeed (): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#log.info({ lostSpans: this.#lostSpans }, 'the collector takes spans again')
    this.#lostSpans = 0
  }
}
