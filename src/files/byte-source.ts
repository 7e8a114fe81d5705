// Turns what a handler passes as a file into bytes as they come.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FileSource } from '../author/files.ts'

interface ByteSource {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Of a file at a path. */
  readonly name?: string
  /** `undefined` for a stream. */
  readonly size?: number
}

const EXPECTED = 'put: the file must be a path, a file: URL, bytes, or a stream of bytes'

/** Rejects with a TypeError for any other value, and for a path without a regular file. */
export async function openSource (source: FileSource): Promise<ByteSource> {
  if (typeof source === 'string' || source instanceof URL) {
    const path = typeof source === 'string' ? source : fileURLToPath(source)
    const facts = await stat(path)
    if (!facts.isFile()) throw new TypeError(`${EXPECTED}: ${path} is not a regular file`)
    return { bytes: createReadStream(path), name: basename(path), size: facts.size }
  }
  if (source instanceof Uint8Array) return { bytes: toChunks([source]), size: source.length }
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) {
    return { bytes: toChunks(source) }
  }
  throw new TypeError(EXPECTED)
}

/** The types do not protect authors who write JavaScript. */
async function * toChunks (source: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    if (chunk instanceof Uint8Array) yield chunk
    else if (typeof chunk === 'string') yield Buffer.from(chunk)
    else throw new TypeError(`${EXPECTED}: the stream has a chunk of type ${typeof chunk}`)
  }
}
