// Reads what authors pass to `ctx.files`.

import type { UploadOptions } from '../author/files.ts'
import { isAccepted } from './accepted-types.ts'

const DAY_MS = 86_400_000
const MIN_TTL_MS = 1000
const MAX_TTL_MS = 30 * DAY_MS
const MAX_NAME_LENGTH = 200
const MAX_MESSAGE_LENGTH = 500
const MAX_ACCEPTED = 20

/** Control characters, and those that change the direction in which a name is read. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The name without a path. `undefined` if nothing is left of it. */
export function toFileName (text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const [last = ''] = text.split(/[\\/]/).slice(-1)
  // By characters: a text that is cut within one is not valid.
  const name = [...last.replaceAll(UNPRINTABLE, '').trim()].slice(0, MAX_NAME_LENGTH).join('')
  return name === '' || name === '.' || name === '..' ? undefined : name
}

export function readTtl (method: string, ttlMs: unknown = DAY_MS): number {
  return readNumber(`${method}: ttlMs`, ttlMs, MIN_TTL_MS, MAX_TTL_MS)
}

type ReadUpload = Required<UploadOptions>

/** Throws a TypeError or a RangeError that names the option. */
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
    throw new TypeError(`upload: accept must be a list of at most ${MAX_ACCEPTED} media types, ` +
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
  throw new RangeError(`${place} must be a number from ${min} to ${max}, got ${String(value)}`)
}
