// Reads a body as a whole. Its bytes count from their arrival until it is parsed.

import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { ArrivingBody, ArrivingBytes } from '../../../platform/limits/arriving-bytes.ts'
import { invalidRequest, parseError } from '../../../platform/protocol/errors.ts'

type Done = (error: Error | null, value?: unknown) => void
/** Parses a whole body. */
type ParseBody = (request: FastifyRequest, body: Buffer, done: Done) => void

interface BodyReaderOptions {
  readonly maxBytes: number
  readonly arrivingBytes: ArrivingBytes
}

/** Each connection may hold this much of a body for nothing: a limit has many connections of a few bytes. */
const UNCOUNTED_BYTES = 4096
/** A piece takes this much beside its bytes: a client may send each byte in one of its own. */
const PIECE_BYTES = 768

/** Returns a function for `addContentTypeParser`. */
export function readWhole (
  { maxBytes, arrivingBytes }: BodyReaderOptions, parse: ParseBody
): (request: FastifyRequest, payload: Readable, done: Done) => void {
  const tooLarge = () => invalidRequest(`the body is larger than ${maxBytes} bytes`, 413)

  return (request, payload, done) => {
    const declared = Number(request.headers['content-length'])
    if (declared > maxBytes) return done(tooLarge())
    const pieces: Buffer[] = []
    let length = 0
    let uncounted = 0
    let counted: ArrivingBody | undefined

    function stop (): void {
      payload.off('data', add).off('end', end).off('error', breakOff)
      if (counted !== undefined) request.raw.socket.off('close', release)
    }

    /** A refused body is read on, and dropped. */
    function fail (error: Error): void {
      stop()
      counted?.close()
      done(error)
    }

    /** A plugin that decodes bodies decides the status of its errors. */
    function breakOff (error: Error): void { fail('statusCode' in error ? error : parseError(error)) }

    /** Some streams of plugins close without an error. */
    function release (): void { counted?.close() }

    function count (bytes: number): void {
      if (counted !== undefined) return counted.add(bytes)
      uncounted += bytes
      if (uncounted <= UNCOUNTED_BYTES) return
      counted = arrivingBytes.open(request, fail)
      request.raw.socket.once('close', release)
      counted.add(uncounted)
    }

    function add (piece: Buffer | string): void {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      length += bytes.length
      if (length > maxBytes) return fail(tooLarge())
      pieces.push(bytes)
      // Most bodies come whole, in one piece. They are parsed now, and need not be counted.
      if (length !== declared || counted !== undefined) count(bytes.length + PIECE_BYTES)
    }

    function end (): void {
      stop()
      if (!Number.isNaN(declared) && encodedLengthOf(payload, length) !== declared) {
        return fail(parseError('not as long as Content-Length says'))
      }
      const body = pieces.length === 1 ? pieces[0] ?? Buffer.alloc(0) : Buffer.concat(pieces, length)
      if (counted === undefined) return parse(request, body, done)
      counted.complete()
      parse(request, body, (error, value) => {
        counted?.close()
        done(error, value)
      })
    }

    payload.on('data', add).on('end', end).on('error', breakOff).resume()
  }
}

/** A plugin that decodes bodies tells how long they were. */
function encodedLengthOf (payload: Readable, length: number): number {
  return ('receivedEncodedLength' in payload && Number(payload.receivedEncodedLength)) || length
}
