// Sends a file, or one part of it. https://www.rfc-editor.org/rfc/rfc9110#name-range-requests

import contentDisposition from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import parseRange from 'range-parser'
import { sliceOf } from '../../features/files/byte-slice.ts'
import type { LinkedFile } from '../../features/files/file-server.ts'
import type { ByteRange } from '../../features/files/storage.ts'
import { notFound, sendText } from './page.ts'

/** Answers GET and HEAD. */
export async function sendFile (
  file: LinkedFile, request: FastifyRequest, reply: FastifyReply
): Promise<FastifyReply> {
  const { name, mimeType, size, etag } = file
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    // Browsers read other letters than those of ASCII only from the form in UTF-8.
    'content-disposition': contentDisposition(Buffer.from(name).toString(), { fallback: name.replaceAll(/[^ -~]/g, '?') }),
    // A page of the service's origin must not be made from a file.
    'content-security-policy': "sandbox; default-src 'none'"
  })
  const isUnchanged = isKnown(request.headers['if-none-match'], etag)
  const range = isUnchanged ? undefined : rangeOf(request, file)
  if (isUnchanged || range === 'unsatisfiable') {
    if (!await file.has()) return gone(reply)
    if (isUnchanged) return reply.code(304).send()
    reply.header('content-range', `bytes */${size}`)
    return sendText(reply, 416, 'The file does not have this range.')
  }
  const isHead = request.method === 'HEAD'
  const body = isHead ? undefined : await file.read(range)
  if (isHead ? !await file.has() : body === undefined) return gone(reply)
  const length = range === undefined ? size : range.end - range.start + 1
  reply.code(200).headers({ 'content-type': mimeType, 'content-length': length })
  if (range !== undefined) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`)
  }
  // The file may grow or shrink meanwhile. If it ends early, the connection is closed.
  const slice = body && sliceOf(body, { length })
  slice?.on('error', (err) => {
    if (reply.raw.headersSent) request.log.warn({ err }, 'a download broke off')
  })
  return reply.send(slice)
}

/** The answer must not differ from that to a link that never worked. */
function gone (reply: FastifyReply): FastifyReply {
  for (const name of ['etag', 'accept-ranges', 'content-disposition', 'content-security-policy']) {
    reply.removeHeader(name)
  }
  return notFound(reply)
}

/** `undefined` for the whole file: that is also the answer to several ranges. */
function rangeOf (
  { method, headers }: FastifyRequest, { size, etag }: LinkedFile
): ByteRange | 'unsatisfiable' | undefined {
  const { range, 'if-range': condition } = headers
  // The range is of a file that the client has a part of: the part must be of this one.
  if (method !== 'GET' || range === undefined || (condition !== undefined && condition !== etag)) {
    return undefined
  }
  const ranges = parseRange(size, range)
  if (ranges === -1) return 'unsatisfiable'
  return ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 ? undefined : ranges[0]
}

function isKnown (header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true
}
