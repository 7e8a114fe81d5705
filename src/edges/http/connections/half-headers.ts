// Bounds the memory of headers that have not come whole. Node keeps them for each connection, and tells
// nobody how many bytes they have.

import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { ANONYMOUS } from '../../../platform/access/principal.ts'
import type { ArrivingBody, ArrivingBytes } from '../../../platform/limits/arriving-bytes.ts'
import { lastExchangeOf, type HttpExchange } from './client-errors.ts'

/** Each connection may hold this much for nothing: nearly all headers are shorter. In bytes. */
const UNCOUNTED_BYTES = 4096

/** What a connection had done at the last check. */
interface Checked {
  bytesRead: number
  bytesWritten: number
  exchange: HttpExchange | undefined
  /** The most bytes of it that can be half of a request. */
  half: number
  /** Present if they count. */
  counted: ArrivingBody | undefined
}

interface HalfHeadersOptions {
  readonly bytes: ArrivingBytes
  /** Returns the address of the peer. `undefined`: no share limits it. */
  addressOf (socket: Socket): string | undefined
  /** Called for each connection that gives way. */
  onRefused (error: Error): void
}

/** Connections are checked one after another by a timer, so that requests pay nothing. */
export class HalfHeaders {
  readonly #options: HalfHeadersOptions
  readonly #checked = new WeakMap<Socket, Checked>()

  constructor (options: HalfHeadersOptions) {
    this.#options = options
  }

  check (socket: Socket): void {
    const { bytesRead } = socket
    if (bytesRead === 0) return
    const last = this.#checked.get(socket) ??
      { bytesRead: 0, bytesWritten: 0, exchange: undefined, half: 0, counted: undefined }
    this.#checked.set(socket, last)
    const newBytes = bytesRead - last.bytesRead
    const exchange = lastExchangeOf(socket)
    const isHalf = newBytes === 0 || this.#add(socket, last, newBytes, exchange)
    last.bytesRead = bytesRead
    last.exchange = exchange
    // A connection that is busy holds no half of a request for long, and one that is served must not break.
    const counts = isHalf && exchange === undefined && last.half > UNCOUNTED_BYTES
    if (newBytes === 0 && counts === (last.counted !== undefined)) return
    last.counted?.close()
    last.counted = counts ? this.#count(socket, last.half) : undefined
  }

  /** Returns whether no request came meanwhile: then the bytes are of one that is not whole. */
  #add (socket: Socket, last: Checked, newBytes: number, exchange: HttpExchange | undefined): boolean {
    const { bytesWritten } = socket
    const isServed = bytesWritten !== last.bytesWritten || exchange !== last.exchange
    last.bytesWritten = bytesWritten
    // What came behind the last request may be all of it.
    last.half = Math.min(isServed ? newBytes : last.half + newBytes, maxHeaderSize)
    return !isServed
  }

  #count (socket: Socket, half: number): ArrivingBody {
    const { bytes, addressOf, onRefused } = this.#options
    const counted = bytes.open({ principal: ANONYMOUS, address: addressOf(socket) }, (refusal) => {
      onRefused(refusal)
      socket.destroy()
    })
    socket.once('close', counted.close)
    counted.add(half)
    return counted
  }
}
