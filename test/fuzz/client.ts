// An HTTP client that sends any bytes, also those that no client of a library would send.

import { connect, type Socket } from 'node:net'

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly target: 'main' | 'admin'
  readonly method: string
  readonly path: string
  /** A name may come twice. The client adds `Host` and `Content-Length` if no header has the name. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Written as JSON, unless it is a text or bytes. */
  readonly body?: unknown
  /** Sent as it is, in place of everything else. */
  readonly raw?: string
  /** The client leaves after this time, in milliseconds, if the answer has not ended. */
  readonly leaveAfterMs?: number
}

export interface WireAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Whether the answer came to its end. */
  readonly isComplete: boolean
}

/** How long the service may take for an answer, in milliseconds. */
const DEADLINE_MS = 20_000

export class NoAnswer extends Error {}

/** One connection, which is opened again after each end. Requests are sent one after another. */
export class WireClient {
  readonly #port: number
  #socket: Socket | undefined

  constructor (port: number) {
    this.#port = port
  }

  close (): void { this.#socket?.destroy() }

  /** Rejects with NoAnswer if no answer comes in time, or the service closes without one. */
  async send (request: WireRequest): Promise<WireAnswer> {
    const bytes = toBytes(request, this.#port)
    const before = this.#socket
    try {
      return await this.#exchange(request, bytes)
    } catch (error) {
      // A server may close an idle connection at any time: one that was used before proves nothing.
      const isStale = error instanceof NoAnswer && before !== undefined && this.#socket !== before
      if (!isStale) throw error
      return await this.#exchange(request, bytes)
    }
  }

  async #exchange (request: WireRequest, bytes: Buffer): Promise<WireAnswer> {
    const socket = this.#open()
    const reader = new AnswerReader(request.method)
    return await new Promise<WireAnswer>((resolve, reject) => {
      const end = (isReusable: boolean) => {
        clearTimeout(timer)
        socket.off('data', take).off('close', onClose)
        if (!isReusable) {
          socket.destroy()
          if (this.#socket === socket) this.#socket = undefined
        }
      }
      const give = (isComplete: boolean) => {
        end(isComplete && reader.isReusable && request.raw === undefined)
        resolve({ ...reader.answer, isComplete })
      }
      const fail = (reason: string) => {
        end(false)
        reject(new NoAnswer(reason))
      }
      const take = (chunk: Buffer) => {
        reader.add(chunk)
        if (reader.isDone) give(true)
      }
      const onClose = () => {
        if (reader.endsWithConnection) give(true)
        else if (reader.hasHead) give(false)
        else fail('the service closed the connection without an answer')
      }
      const timer = setTimeout(() => {
        if (request.leaveAfterMs === undefined) fail(`no answer within ${DEADLINE_MS} ms`)
        else if (reader.hasHead) give(false)
        else {
          end(false)
          resolve({ status: 0, headers: {}, body: '', isComplete: false })
        }
      }, request.leaveAfterMs ?? DEADLINE_MS)
      socket.on('data', take).on('close', onClose)
      socket.write(bytes)
    })
  }

  #open (): Socket {
    if (this.#socket?.writable !== true) {
      this.#socket?.destroy()
      // The end of a connection is noticed by its 'close'.
      this.#socket = connect(this.#port, '127.0.0.1').on('error', () => {}).setNoDelay(true)
    }
    return this.#socket
  }
}

export function toBytes ({ method, path, headers, body, raw }: WireRequest, port: number): Buffer {
  if (raw !== undefined) return Buffer.from(raw, 'latin1')
  const content = body === undefined || Buffer.isBuffer(body)
    ? body ?? Buffer.alloc(0)
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const has = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted)
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...has('host') ? [] : [`Host: 127.0.0.1:${port}`],
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...body === undefined || has('content-length') || has('transfer-encoding')
      ? []
      : [`Content-Length: ${content.length}`],
    '\r\n'
  ].join('\r\n')
  // The low byte of another letter could be the end of a line.
  return Buffer.concat([Buffer.from(head.replaceAll(/[^\0-\xff]/g, '?'), 'latin1'), content])
}

const NO_BODY: ReadonlySet<number> = new Set([204, 304])

/** Reads one answer: a head, and a body of a length, in chunks, or up to the end of the connection. */
class AnswerReader {
  readonly #isHead: boolean
  #rest: Buffer = Buffer.alloc(0)
  #status = 0
  #headers: { [name: string]: string } = {}
  readonly #body: Buffer[] = []
  /** Bytes that the body, or its current chunk, still misses. */
  #missing = 0
  #form: 'head' | 'length' | 'chunked' | 'connection' | 'done' = 'head'

  constructor (method: string) {
    this.#isHead = method === 'HEAD'
  }

  get isDone (): boolean { return this.#form === 'done' }
  get hasHead (): boolean { return this.#form !== 'head' }
  get endsWithConnection (): boolean { return this.#form === 'connection' }
  get isReusable (): boolean { return this.#headers.connection !== 'close' && this.#rest.length === 0 }

  get answer (): Omit<WireAnswer, 'isComplete'> {
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body).toString() }
  }

  add (chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (this.#step()) { /* Each step takes a part of the rest. */ }
  }

  #step (): boolean {
    switch (this.#form) {
      case 'head': return this.#readHead()
      case 'length': return this.#readLength()
      case 'chunked': return this.#readChunk()
      case 'connection': return this.#take(this.#rest.length) && false
      case 'done': return false
    }
  }

  #readHead (): boolean {
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end === -1) return false
    const [first = '', ...lines] = this.#rest.subarray(0, end).toString('latin1').split('\r\n')
    this.#rest = this.#rest.subarray(end + 4)
    this.#status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0)
    this.#headers = Object.fromEntries(lines.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }))
    if (this.#status === 100) return true
    const { 'content-length': length, 'transfer-encoding': coding } = this.#headers
    if (this.#isHead || NO_BODY.has(this.#status)) this.#form = 'done'
    else if (coding === 'chunked') this.#form = 'chunked'
    else if (length !== undefined) {
      this.#form = 'length'
      this.#missing = Number(length)
      if (this.#missing === 0) this.#form = 'done'
    } else this.#form = 'connection'
    return true
  }

  #readLength (): boolean {
    if (this.#rest.length === 0) return false
    this.#take(this.#missing)
    if (this.#missing === 0) this.#form = 'done'
    return true
  }

  #readChunk (): boolean {
    if (this.#missing > 0) {
      if (this.#rest.length === 0) return false
      // The two bytes of the end of the chunk are no part of the body.
      this.#take(this.#missing)
      return true
    }
    const start = this.#rest.subarray(0, 2).toString() === '\r\n' ? 2 : 0
    const end = this.#rest.indexOf('\r\n', start)
    if (end === -1) return false
    const size = Number.parseInt(this.#rest.subarray(start, end).toString(), 16)
    if (size === 0) {
      if (this.#rest.length < end + 4) return false
      this.#rest = this.#rest.subarray(end + 4)
      this.#form = 'done'
      return true
    }
    this.#rest = this.#rest.subarray(end + 2)
    this.#missing = size
    return true
  }

  #take (bytes: number): boolean {
    const part = this.#rest.subarray(0, bytes)
    this.#rest = this.#rest.subarray(part.length)
    this.#missing = Math.max(0, this.#missing - part.length)
    if (part.length > 0) this.#body.push(part)
    return true
  }
}
