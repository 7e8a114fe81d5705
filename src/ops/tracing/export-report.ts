// Tells the log when the collector stops taking spans, and when it takes them again.

import { ExportResultCode, type ExportResult } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node'

export interface ExportLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
}

export class ReportingExporter implements SpanExporter {
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
