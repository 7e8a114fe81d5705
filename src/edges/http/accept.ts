// The header Accept: which kinds of answer a client takes.
// https://www.rfc-editor.org/rfc/rfc9110#name-accept

import { invalidRequest } from '../../platform/protocol/errors.ts'

export const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
const HTML_TYPE = 'text/html'
const BOTH = `${JSON_TYPE}, ${STREAM_TYPE}`

/** Throws unless the client takes both kinds of answer to a POST. An absent header takes anything. */
export function checkAccept (accept: string | undefined): void {
  if (accept === undefined || accept === BOTH) return
  const ranges = readRanges(accept)
  if (!takes(ranges, JSON_TYPE) || !takes(ranges, STREAM_TYPE)) {
    throw invalidRequest(`Accept must list ${BOTH}`, 406)
  }
}

/** Throws unless the client takes a stream. An absent header takes anything. */
export function checkAcceptStream (accept: string | undefined): void {
  if (accept !== undefined && !takes(readRanges(accept), STREAM_TYPE)) {
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

/** Returns the weight of the most specific range that has the type. 0 if none has it. */
function weigh (accept: string, mediaType: string): number {
  const [type] = mediaType.split('/')
  const weights = new Map(accept.toLowerCase().split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length)
    return [range, weight === undefined ? 1 : Number(weight)] as const
  }))
  return weights.get(mediaType) ?? weights.get(`${type}/*`) ?? weights.get('*/*') ?? 0
}

/** The media ranges of the header, without those that it rules out. */
function readRanges (accept: string): string[] {
  return accept.split(',').flatMap((part) => {
    const [range = '', ...parameters] = part.toLowerCase().split(';').map((piece) => piece.trim())
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [range]
  })
}

function takes (ranges: readonly string[], mediaType: string): boolean {
  const [type] = mediaType.split('/')
  return ranges.some((range) => range === mediaType || range === `${type}/*` || range === '*/*')
}
