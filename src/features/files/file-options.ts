// Reads the arguments of `ctx.files`: options, and the sources of bytes.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { FileSource, UploadOptions } from '../../platform/author/files.ts'
import { ToolError } from '../../platform/author/tool-error.ts'
import { cut } from '../../base/text.ts'
import { isAccepted } from './accepted-types.ts'

const DAY_MS = 86_400_000
const MIN_TTL_MS = 1000
const MAX_TTL_MS = 30 * DAY_MS
const MAX_NAME_LENGTH = 200
const MAX_MESSAGE_LENGTH = 500
const MAX_ACCEPTED = 20
const EXPECTED = 'put: the file must be a path, a file: URL, bytes, or a stream of bytes'

/** Control characters, and those that change the direction in which a name is read. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns the name without its path and unprintable characters, and `undefined` if nothing is left. */
export function toFileName (path: unknown): string | undefined {
  if (typeof path !== 'string') return undefined
  const [last = ''] = path.split(/[\\/]/).slice(-1)
  // Half of a character is no valid text: none is accepted.
  const text = Buffer.from(last.replaceAll(UNPRINTABLE, '').trim()).toString()
  const name = cut(text, MAX_NAME_LENGTH)
  return name === '' || name === '.' || name === '..' ? undefined : name
}

export function readTtl (method: string, ttlMs: unknown = DAY_MS): number {
  return readNumber(`${method}: ttlMs`, ttlMs, MIN_TTL_MS, MAX_TTL_MS)
}

type ReadUpload = Required<UploadOptions>

/** Throws a TypeError that names the option, or a ToolError where a model may have chosen the value. */
export function readUpload (
  { message, key = 'upload', accept = [], maxBytes, ttlMs }: UploadOptions, maxFileBytes: number
): ReadUpload {
  if (typeof message !== 'string' || message.trim() === '' || message.length > MAX_MESSAGE_LENGTH) {
    throw new TypeError(`upload: message must be a text of 1 to ${MAX_MESSAGE_LENGTH} characters`)
  }
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('upload: key must be a text that is not empty')
  }
  if (!Array.isArray(accept) || accept.length > MAX_ACCEPTED || !accept.every(isAccepted)) {
    throw new ToolError(`upload: accept must be a list of at most ${MAX_ACCEPTED} media types, ` +
      "such as application/pdf and image/*, or extensions, such as '.csv'")
  }
  return {
    message,
    key,
    accept,
    maxBytes: readNumber('upload: maxBytes', maxBytes ?? maxFileBytes, 1, maxFileBytes),
    ttlMs: readTtl('upload', ttlMs)
  }
}

function readNumber (place: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value
  throw toOptionError(`${place} must be a number from ${min} to ${max}`, value, 'number')
}

/** A value of the right type may be a model's choice. Any other value is a mistake of the author. */
export function toOptionError (rule: string, value: unknown, type: 'number' | 'string'): Error {
  const message = `${rule}, got ${inspect(value)}`
  // eslint-disable-next-line valid-typeof -- The type is a constant of the caller.
  return typeof value === type ? new ToolError(message) : new TypeError(message)
}

interface ByteSource {
  readonly bytes: AsyncIterable<Uint8Array>
  /** The name of a file at a path. */
  readonly name?: string
  /** Absent for a stream. */
  readonly size?: number
}

/** Opens the bytes. Rejects with a TypeError for any other value, and if the path is not a regular file. */
export async function openSource (source: FileSource): Promise<ByteSource> {
  if (typeof source === 'string' || source instanceof URL) {
    const path = typeof source === 'string' ? source : fileURLToPath(source)
    const facts = await stat(path)
    if (!facts.isFile()) throw new TypeError(`${EXPECTED}: ${path} is not a regular file`)
    return { bytes: readFile(path), name: basename(path), size: facts.size }
  }
  if (source instanceof Uint8Array) return { bytes: toChunks([source]), size: source.length }
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source) {
    return { bytes: toChunks(source) }
  }
  throw new TypeError(EXPECTED)
}

/** Opens the file when its first byte is needed: a file that does not fit is not opened. */
async function * readFile (path: string): AsyncGenerator<Uint8Array> {
  yield * createReadStream(path)
}

/** The types do not protect authors who write JavaScript. */
async function * toChunks (source: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    if (chunk instanceof Uint8Array) yield chunk
    else if (typeof chunk === 'string') yield Buffer.from(chunk)
    else throw new TypeError(`${EXPECTED}: the stream has a chunk of type ${typeof chunk}`)
  }
}
