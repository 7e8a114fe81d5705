// Marks spans of work that failed.

import { SpanStatusCode, type Span } from '@opentelemetry/api'
import { InputRequired } from '../../request/questions/round-state.ts'
import { ATTR_ERROR } from './conventions.ts'

/** Authors may give an error any name. Only one that looks like the name of a class is recorded. */
const CLASS_NAME = /^[A-Za-z_$][\w$.]{0,63}$/

/** Records the class of the error, never its message: a message may contain arguments. */
export function failSpan (span: Span, error: unknown): void {
  // The handler has asked the client a question. That is how a round ends, and no error.
  if (error instanceof InputRequired) return
  markFailed(span, toClassName(error))
}

export function markFailed (span: Span, type: string): void {
  span.setAttribute(ATTR_ERROR, type).setStatus({ code: SpanStatusCode.ERROR })
}

function toClassName (error: unknown): string {
  const name = error instanceof Error ? error.name : undefined
  return typeof name === 'string' && CLASS_NAME.test(name) ? name : '_OTHER'
}
