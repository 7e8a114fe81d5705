// The SDK of OpenTelemetry, with an exporter to a collector. Its own variables set the rest:
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_* and OTEL_EXPORTER_OTLP_*.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

import { diag, DiagLogLevel } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource, detectResources, envDetector, resourceFromAttributes
} from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { ReportingExporter, type ExportLog } from './export-report.ts'

export interface TraceExportOptions {
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
