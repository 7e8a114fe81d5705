// The body of an answer as a stream: decompressed, and never longer than its limit.

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { CallError } from './call-error.ts'
import { toTransportError } from './transport-error.ts'

/** The bytes that wait for their reader. Above it the socket is not read. */
const WAITING_BYTES = 65_536
/** More layers are made only to use up memory. */
const MAX_ENCODINGS = 3

export interface AnswerBodyOptions {
  /** In the order in which they were applied. */
  readonly encodings: readonly string[]
  readonly maxBytes: number
  /** Called when more may be added. */
  onDrain (): void
  /** Called when the whole body waits for its reader, or has been read, or fails. */
  onEnd (error?: CallError): void
  /** Called when the reader wants no more. */
  onCancel (): void
}

export interface AnswerBody {
  readonly stream: ReadableStream
  /** Returns whether more may be added now. */
  add (chunk: Uint8Array): boolean
  /** Says that all of the body was added. */
  end (): void
  fail (error: Error): void
}

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip], ['x-gzip', createGunzip], ['deflate', createInflate], ['br', createBrotliDecompress]
])

/** Throws a CallError for an encoding that was not asked for. */
export function createBody ({ encodings, onDrain, ...options }: AnswerBodyOptions): AnswerBody {
  const decoders = toDecoders(encodings)
  const [first, last] = [decoders[0], decoders.at(-1)]
  if (first === undefined || last === undefined) return new PlainBody({ ...options, onDrain })
  const body = new PlainBody({ ...options, onDrain: () => last.resume() })
  connect(decoders, body, { onDrain, ...options })
  return new DecodedBody(body, decoders, first)
}

function toDecoders (encodings: readonly string[]): Transform[] {
  const makers = encodings.map((encoding) => DECODERS.get(encoding))
  const decoders = makers.filter((maker) => maker !== undefined)
  if (decoders.length < encodings.length || decoders.length > MAX_ENCODINGS) {
    throw new CallError('unreachable', new Error('the answer has an unknown content-encoding'))
  }
  return decoders.reverse().map((make) => make())
}

/** Counts the bytes, and hands them to the reader. */
class PlainBody implements AnswerBody {
  readonly stream: ReadableStream
  readonly #options: Omit<AnswerBodyOptions, 'encodings'>
  #controller: ReadableByteStreamController | undefined
  #bytes = 0
  #isOver = false

  constructor (options: Omit<AnswerBodyOptions, 'encodings'>) {
    this.#options = options
    this.stream = new ReadableStream({
      type: 'bytes',
      start: (controller) => { this.#controller = controller },
      pull: () => options.onDrain(),
      cancel: () => {
        this.#isOver = true
        options.onCancel()
      }
    }, { highWaterMark: WAITING_BYTES })
  }

  add (chunk: Uint8Array): boolean {
    if (this.#isOver || this.#controller === undefined) return false
    const { maxBytes, onEnd } = this.#options
    this.#bytes += chunk.length
    if (this.#bytes > maxBytes) {
      onEnd(new CallError('too_large', new Error(`the answer has more than ${maxBytes} bytes`)))
      return false
    }
    // A stream of bytes takes the memory of what it gets, and a chunk is a part of a larger buffer.
    this.#controller.enqueue(new Uint8Array(chunk))
    return (this.#controller.desiredSize ?? 0) > 0
  }

  end (): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.close()
    this.#controller?.byobRequest?.respond(0)
    this.#options.onEnd()
  }

  fail (error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.error(error)
  }
}

function connect (
  decoders: readonly Transform[], body: PlainBody, { onDrain, onEnd }: Omit<AnswerBodyOptions, 'encodings'>
): void {
  const last = decoders.reduce((from, to) => from.pipe(to))
  for (const decoder of decoders) decoder.on('error', (error) => onEnd(brokenBody(error)))
  decoders[0]?.on('drain', onDrain)
  last.on('data', (chunk: Buffer) => { if (!body.add(chunk)) last.pause() })
  last.on('end', () => body.end())
}

function brokenBody (error: Error): CallError {
  return new CallError('unreachable', toTransportError(error))
}

/** Decompresses before the bytes are counted: a small answer may become a large one. */
class DecodedBody implements AnswerBody {
  readonly #body: PlainBody
  readonly #decoders: readonly Transform[]
  readonly #first: Transform
  #isEmpty = true

  constructor (body: PlainBody, decoders: readonly Transform[], first: Transform) {
    this.#body = body
    this.#decoders = decoders
    this.#first = first
  }

  get stream (): ReadableStream { return this.#body.stream }

  add (chunk: Uint8Array): boolean {
    this.#isEmpty &&= chunk.length === 0
    return this.#first.write(chunk)
  }

  /** Some servers compress nothing to nothing, which no decoder takes. */
  end (): void {
    if (this.#isEmpty) this.#body.end()
    else this.#first.end()
  }

  fail (error: Error): void {
    for (const decoder of this.#decoders) decoder.destroy()
    this.#body.fail(error)
  }
}
