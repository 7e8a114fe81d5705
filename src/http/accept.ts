import { invalidRequest } from '../protocol/errors.ts'

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
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
