// The SDK of an operator, for `node --import`: spans go to OTEL_EXPORTER_OTLP_ENDPOINT, and `fetch` is
// instrumented.

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] }).register()
registerInstrumentations({ instrumentations: [new UndiciInstrumentation()] })
