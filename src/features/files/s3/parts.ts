// Cuts a file into the parts that a bucket takes. A writer has one part in memory.

import type { OpenPart } from '../storage.ts'

/** S3 takes 10,000 parts of at least 5 MiB: a file may have 58 GiB. */
export const PART_BYTES = 6_291_456
/** A part begins with memory for this many bytes. Most files are small, and some senders slow. */
const FIRST_BYTES = 65_536

/**
 * Yields parts of PART_BYTES in the same memory. The last part is smaller, and may be missing. Rejects when
 * one of the parts is refused, also while it waits for the source.
 */
export async function * toParts (
  source: AsyncIterable<Uint8Array>, openPart: OpenPart
): AsyncGenerator<Uint8Array> {
  const chunks = new RefusableChunks(source)
  const open = () => openPart((refusal) => chunks.refuse(refusal))
  let part = open()
  let buffer = new Uint8Array(0)
  let length = 0

  function add (piece: Uint8Array): void {
    const newLength = length + piece.length
    if (newLength > buffer.length) {
      const larger = new Uint8Array(Math.min(PART_BYTES, Math.max(FIRST_BYTES, newLength, 2 * buffer.length)))
      larger.set(buffer.subarray(0, length))
      // The memory counts, whether bytes have come for it or not.
      part.add(larger.length - buffer.length)
      buffer = larger
    }
    buffer.set(piece, length)
    length = newLength
  }

  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) {
        const piece = chunk.subarray(at, at + PART_BYTES - length)
        add(piece)
        at += piece.length
        if (length < PART_BYTES) continue
        part.complete()
        yield buffer
        part.close()
        part = open()
        part.add(buffer.length)
        length = 0
      }
    }
    part.complete()
    if (length > 0) yield buffer.subarray(0, length)
  } finally {
    part.close()
  }
}

/** Ends at once when it is refused. The return of a generator would wait for the chunk that it waits for. */
class RefusableChunks implements AsyncIterableIterator<Uint8Array> {
  readonly #chunks: AsyncIterator<Uint8Array>
  #refusal: Error | undefined
  #interrupt = (_: Error): void => {}

  constructor (source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  [Symbol.asyncIterator] (): this { return this }

  refuse (refusal: Error): void {
    this.#refusal = refusal
    this.#interrupt(refusal)
    this.#chunks.return?.().catch(() => {})
  }

  async next (): Promise<IteratorResult<Uint8Array>> {
    return await new Promise((resolve, reject) => {
      if (this.#refusal !== undefined) return reject(this.#refusal)
      this.#interrupt = reject
      this.#chunks.next().then(resolve, reject)
    })
  }

  async return (): Promise<IteratorResult<Uint8Array>> {
    await this.#chunks.return?.()
    return { done: true, value: undefined }
  }
}
