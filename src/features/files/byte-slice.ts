// A part of a stream, of exactly the promised length.

import { Readable } from 'node:stream'

/**
 * Returns `length` bytes of the source, after the first `start` ones. The source is not read any further. The
 * stream fails if the source ends before.
 */
export function sliceOf (
  source: Readable, { start = 0, length }: { readonly start?: number, readonly length: number }
): Readable {
  async function * read (): AsyncGenerator<Uint8Array> {
    let [skipped, left] = [start, length]
    if (left === 0) return
    for await (const chunk of source) {
      const piece: Uint8Array = chunk.subarray(skipped, skipped + left)
      skipped = Math.max(0, skipped - chunk.length)
      left -= piece.length
      if (piece.length > 0) yield piece
      if (left === 0) return
    }
    throw new Error(`the file ended ${left} bytes before its promised length of ${length}`)
  }

  const slice = Readable.from(read(), { objectMode: false })
  // The generator throws it. It may not have begun to read.
  source.on('error', () => {})
  // At once: the generator may wait for a chunk that does not come.
  return slice.once('close', () => source.destroy())
}
