// The header Accept: which kinds of answer a client takes.
// https://www.rfc-editor.org/rfc/rfc9110#name-accept

import { invalidRequest } from '../../platform/protocol/errors.ts'

export const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
const HTML_TYPE = 'text/html'
const BOTH = `${JSON_TYPE}, ${STREAM_TYPE}`

/**
 * Returns whether the answer to a POST may be a stream. Some clients take JSON alone: they get their answers
 * without the notifications before these. An absent header takes anything. Throws for a client that does not
 * take JSON, or does not take the stream that the answer must be.
 */
export function readAccept (accept: string | undefined, mustStream = false): boolean {
  if (accept === undefined || accept === BOTH) return true
  const takesStream = takes(accept, STREAM_TYPE)
  if (!takes(accept, JSON_TYPE) || (mustStream && !takesStream)) {
    throw invalidRequest(`Accept must list ${BOTH}`, 406)
  }
  return takesStream
}

/** Throws unless the client takes a stream. An absent header takes anything. */
export function checkAcceptStream (accept: string | undefined): void {
  if (accept !== undefined && !takes(accept, STREAM_TYPE)) {
    throw invalidRequest(`Accept must list ${STREAM_TYPE}`, 406)
  }
}

/**
 * Whether the client names HTML and would rather have it than a stream or JSON, as browsers do. Clients of
 * the protocol name a stream, and other programs nothing or anything.
 */
export function prefersHtml ({ method, headers: { accept } }: AcceptingRequest): boolean {
  if (method !== 'GET' || accept?.includes(HTML_TYPE) !== true) return false
  const weightOf = (mediaType: string) => weigh(accept, mediaType)
  const weight = weightOf(HTML_TYPE)
  return weight > weightOf(STREAM_TYPE) && weight > weightOf(JSON_TYPE)
}

interface AcceptingRequest {
  readonly method: string
  readonly headers: { readonly accept?: string | undefined }
}

/** A weight that is no number rules nothing out. */
function takes (accept: string, mediaType: string): boolean { return !(weigh(accept, mediaType) <= 0) }

/**
 * Returns the weight of the most specific range that has the type: 0 if none has it, NaN for what is no
 * number.
 */
function weigh (accept: string, mediaType: string): number {
  const [type] = mediaType.split('/')
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1'
    const weight = /^\d+(?:\.\d*)?$/.test(text) ? Number(text) : NaN
    weights.set(range, Math.max(weight, weights.get(range) ?? 0))
  }
  return weights.get(mediaType) ?? weights.get(`${type}/*`) ?? weights.get('*/*') ?? 0
}
