// Parses the body of a POST: JSON in UTF-8, of bounded size. Any other body is refused.

import { isUtf8 } from 'node:buffer'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isLarge, requestsTurn } from '../../../base/large-text.ts'
import { leaveStacksOut } from '../../../base/stackless-error.ts'
import { invalidRequest, parseError, type ProtocolError } from '../../../platform/protocol/errors.ts'
import type { ArrivingBytes } from '../../../platform/limits/arriving-bytes.ts'
import { createStructureCheck } from '../../../platform/schema/json-structure.ts'
import { readWhole } from './body-reader.ts'
import type { Replies } from '../replies.ts'

interface BodyOptions {
  readonly maxBodyBytes: number
  readonly maxBodyDepth: number
  /** The limit of a body of a MiB. A larger body may weigh as much in each MiB. */
  readonly maxBodyWeight: number
  readonly arrivingBytes: ArrivingBytes
  readonly replies: Replies
}

/**
 * A text has this if it may have a key that would change an object's prototype, or a byte order mark.
 * Fastify's parser takes both, but looks for each key apart: 0.3 µs of a call, 1 % (Node 20 and 24).
 */
const SUSPECT = /^\ufeff|__proto__|constructor|\\u/
/** In bytes. */
const MIB = 1_048_576

export function registerBody (app: FastifyInstance, options: BodyOptions): void {
  const { maxBodyBytes, maxBodyDepth, maxBodyWeight, arrivingBytes, replies } = options
  const maxWeight = Math.round(maxBodyWeight * Math.max(1, maxBodyBytes / MIB))
  const findProblem = createStructureCheck({ maxDepth: maxBodyDepth, maxWeight })
  // 'error': refuses a body with a key that would change an object's prototype.
  const parseSuspect = app.getDefaultJsonParser('error', 'error')

  const parseJson = (request: FastifyRequest, text: string, parsed: Parsed) => {
    if (SUSPECT.test(text)) {
      return parseSuspect(request, text, (error, value) => parsed(error && parseError(), value))
    }
    let value: unknown
    // With the stack, a body that is not JSON takes 4 µs longer (Node 20 and 24).
    const restoreStacks = leaveStacksOut()
    try {
      value = JSON.parse(text)
    } catch {
      // The log gets no cause: V8's words quote the text, and Fastify's say no more than ours.
    } finally {
      restoreStacks()
    }
    // No JSON is undefined.
    if (value === undefined) parsed(parseError())
    else parsed(null, value)
  }

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', readWhole({ maxBytes: maxBodyBytes, arrivingBytes }, (
    request, body, done
  ) => {
    // Some clients declare JSON with every request, also with a DELETE, whose body has no meaning.
    const { 'content-encoding': encoding, 'content-type': type } = request.headers
    if (request.method === 'DELETE') done(null)
    else if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      done(invalidRequest('Content-Encoding must be absent: compressed bodies are not read', 415))
    } else if (type !== 'application/json' && hasOtherCharset(type)) {
      done(invalidRequest('the charset of Content-Type must be utf-8', 415))
    } else if (!isUtf8(body)) done(parseError('not UTF-8'))
    else {
      const problem = findProblem(body)
      if (problem !== undefined) done(invalidRequest(problem))
      else if (isLarge(body)) {
        const parse: ParseText = (text, parsed) => parseJson(request, text, parsed)
        parseInTurns(body, parse).then((value) => done(null, value), done)
      } else parseJson(request, body.toString('utf8'), done)
    }
  }))

  app.setErrorHandler((error: FastifyError | ProtocolError, request: FastifyRequest, reply: FastifyReply) => {
    // Fastify closes the connection after a body that it cannot parse, also if all of it has come.
    if (request.raw.complete) reply.removeHeader('connection')
    replies.refuse(toBodyError(error), request, reply)
  })
}

type Parsed = (error: Error | null, value?: unknown) => void
type ParseText = (text: string, parsed: Parsed) => void

/** To read and to parse 5 MiB takes up to 14 and 45 ms of CPU. Neither can be cut into turns. */
async function parseInTurns (body: Buffer, parse: ParseText): Promise<unknown> {
  await requestsTurn()
  const text = body.toString()
  await requestsTurn()
  const value = await new Promise((resolve, reject) => {
    parse(text, (error, value) => { if (error === null) resolve(value); else reject(error) })
  })
  await requestsTurn()
  return value
}

function hasOtherCharset (contentType = ''): boolean {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType) ?? []
  return charset !== undefined && !/^utf-?8$/i.test(charset)
}

function toBodyError (error: FastifyError | ProtocolError): unknown {
  if ('httpStatus' in error) return error
  switch (error.statusCode) {
    case 415: return invalidRequest('Content-Type must be application/json', 415)
    case 400: return parseError(error)
    case undefined: return error
    default: return error.statusCode < 500
      ? invalidRequest(error.message, error.statusCode)
      : error
  }
}
