// Registers an SDK of OpenTelemetry for the process of the test. It keeps the spans in memory.

import type { Tracer } from '@opentelemetry/api'
import {
  InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor, type ReadableSpan
} from '@opentelemetry/sdk-trace-node'
import { until } from './deadline.ts'

export interface RecordedSpans {
  /** A tracer of somebody else. */
  readonly tracer: Tracer
  /** The spans that have ended. */
  all (): ReadableSpan[]
  /** Resolves to the one span with this name. */
  named (name: string): Promise<ReadableSpan>
  /** The names of the spans below it, in the order of their ends. */
  below (span: ReadableSpan): string[]
  reset (): void
}

export function recordSpans (): RecordedSpans {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider.register()
  const all = () => exporter.getFinishedSpans()
  return {
    tracer: provider.getTracer('test'),
    all,
    async named (name) {
      const find = () => all().filter((span) => span.name === name)
      await until(() => find().length > 0, `the span ${name}`)
      const [span, ...others] = find()
      if (span === undefined || others.length > 0) throw new Error(`${1 + others.length} spans are named ${name}`)
      return span
    },
    below: (span) => all().filter(
      ({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId
    ).map(({ name }) => name),
    reset: () => exporter.reset()
  }
}
