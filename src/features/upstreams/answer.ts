// The answer of one attempt: its head, and its body within the limit of bytes.

import type { IncomingHttpHeaders } from 'node:http'
import { createBody, type AnswerBody } from './answer-body.ts'
import { CallError, toCallError } from './call-error.ts'
import type { AnswerController, AnswerHandler } from './calling-upstream.ts'

export interface UpstreamAnswerOptions {
  /** Whether the method is HEAD: the answer has no body then, whatever its head says. */
  readonly isHead: boolean
  /** The bytes of the body, after decompression. */
  readonly maxBytes: number
  /** Makes the error that the reader of the body gets. */
  toReaderError (error: Error): Error
}

/** @param error why the answer is not complete. */
type OnEnd = (error: Error | undefined) => void

const ignore: OnEnd = () => {}

/** RFC 9110, section 6.4.1. */
const WITHOUT_BODY = new Set([204, 205, 304])

/** Takes what undici says of one request. */
export class UpstreamAnswer implements AnswerHandler {
  readonly #options: UpstreamAnswerOptions
  #controller: AnswerController | undefined
  /** Why the answer is not wanted any more. */
  #aborted: Error | undefined
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #status = 0
  #statusText = ''
  #headers: IncomingHttpHeaders = {}
  /** What came before the body was asked for: the rest of what the socket had. */
  #chunks: Buffer[] = []
  #bytes = 0
  #body: AnswerBody | undefined
  #isComplete = false
  /** Why there is no answer, or why it is not complete. */
  #failure: Error | undefined
  #onEnd = ignore

  constructor (options: UpstreamAnswerOptions) {
    this.#options = options
  }

  get status (): number { return this.#status }

  /** Whether there is a connection for the request. */
  get isConnected (): boolean { return this.#controller !== undefined }

  /** Whether more has come than its reader has read. */
  get isPaused (): boolean { return this.#controller?.paused === true }

  header (name: string): string | undefined {
    const value = this.#headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Resolves when the head is there. Rejects with a CallError, or with the reason of `abort`. */
  async begin (dispatch: (handler: AnswerHandler) => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      dispatch(this)
    })
  }

  /** Drops what has not come. The reader of the body gets the reason. */
  abort (reason: Error): void {
    if (this.#failure !== undefined) return
    this.#aborted = reason
    // Nothing more comes of a complete answer, but its reader may still wait.
    if (!this.#isComplete) this.#controller?.abort(reason)
    this.#fail(reason)
  }

  onRequestStart (controller: AnswerController): void {
    this.#controller = controller
    if (this.#aborted !== undefined) controller.abort(this.#aborted)
  }

  onRequestUpgrade (): void {
    throw new CallError('unreachable', new Error('the upstream wants another protocol'))
  }

  onResponseStart (
    _controller: AnswerController, status: number, headers: IncomingHttpHeaders, statusText = ''
  ): void {
    // Information before the answer, such as early hints.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#statusText = statusText
    this.#resolve()
  }

  onResponseData (controller: AnswerController, chunk: Buffer): void {
    if (this.#body !== undefined) {
      if (!this.#body.add(chunk)) controller.pause()
      return
    }
    this.#bytes += chunk.length
    // The body is asked for, or dropped, before the socket is read again.
    this.#chunks.push(chunk)
    if (this.#bytes > this.#options.maxBytes) controller.pause()
  }

  onResponseEnd (): void {
    this.#isComplete = true
    this.#body?.end()
  }

  onResponseError (_controller: AnswerController, error: Error): void {
    this.#fail(this.#aborted ?? toCallError(error, this.#controller !== undefined))
  }

  /**
   * Throws a CallError for an answer that is too large, or that no response can represent.
   * @param onEnd called once, when nothing more comes, unless this throws.
   */
  toResponse (onEnd: OnEnd): Response {
    if (this.#failure !== undefined) throw this.#failure
    this.#onEnd = onEnd
    try {
      const response = new Response(this.#readBody(), {
        status: this.#status,
        statusText: toStatusText(this.#statusText),
        headers: toHeaderPairs(this.#headers)
      })
      if (this.#body === undefined) this.#finish()
      return response
    } catch (error) {
      this.#onEnd = ignore
      const failure = error instanceof CallError
        ? error
        // The error of the constructor quotes the value of a header.
        : new CallError('unreachable', new Error('no Response can have its status or a header'))
      this.abort(failure)
      throw failure
    }
  }

  #readBody (): Uint8Array<ArrayBuffer> | ReadableStream | null {
    const { isHead, maxBytes } = this.#options
    if (isHead || WITHOUT_BODY.has(this.#status)) return null
    const encodings = toEncodings(this.header('content-encoding') ?? '')
    const isEncoded = encodings.length > 0
    if (this.#bytes > maxBytes || (!isEncoded && Number(this.header('content-length') ?? 0) > maxBytes)) {
      throw tooLarge(maxBytes)
    }
    const chunks = this.#chunks
    this.#chunks = []
    // Most answers are there as a whole: they need no stream.
    if (this.#isComplete && !isEncoded) return join(chunks)
    this.#body = createBody({
      encodings,
      maxBytes,
      onDrain: () => this.#controller?.resume(),
      onEnd: (error) => error === undefined ? this.#onEnd(undefined) : this.abort(error),
      onCancel: () => this.abort(new Error('the body is not wanted'))
    })
    for (const chunk of chunks) if (!this.#body.add(chunk)) this.#controller?.pause()
    if (this.#isComplete) this.#body.end()
    return this.#body.stream
  }

  /** Ends an answer whose body is there, or that has none. */
  #finish (): void {
    const onEnd = this.#onEnd
    this.#onEnd = ignore
    if (!this.#isComplete) this.abort(new Error('the answer has no body'))
    onEnd(undefined)
  }

  #fail (error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#reject(error)
    this.#body?.fail(this.#options.toReaderError(error))
    this.#onEnd(error)
  }
}

/** RFC 9110, section 8.4. `identity` says that nothing was done. */
function toEncodings (header: string): string[] {
  const names = header.toLowerCase().split(',').map((encoding) => encoding.trim())
  return names.filter((name) => name !== '' && name !== 'identity')
}

function tooLarge (maxBytes: number): CallError {
  return new CallError('too_large', new Error(`the answer has more than ${maxBytes} bytes`))
}

/** The chunks are parts of what the socket read: a copy keeps no more than the body in memory. */
function join (chunks: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return new Uint8Array(first)
  return new Uint8Array(Buffer.concat(chunks))
}

const toStatusText = (text: string) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : ''

/** undici reads UTF-8, and a response has bytes as letters. */
function toHeaderPairs (headers: IncomingHttpHeaders): Array<[string, string]> {
  const pairs: Array<[string, string]> = []
  for (const [name, value] of Object.entries(headers)) {
    for (const text of Array.isArray(value) ? value : [value ?? '']) {
      pairs.push([name, /[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text])
    }
  }
  return pairs
}
