// The media types that a handler can read.

import { HEADER_VALUE } from './request-head.ts'

/** Compares types without parameters, in any case of letters. */
export class AcceptedMedia {
  /** The value of the header `accept`. */
  readonly header: string
  readonly #types: readonly string[]

  /** Throws a TypeError for what is no media type. */
  constructor (accept: string | readonly string[]) {
    const types = [accept].flat().flatMap((list) => String(list).split(','))
    this.#types = types.map((type) => essenceOf(type))
    if (types.length === 0 || !this.#types.every((type) => /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+$/.test(type))) {
      throw new TypeError('fetch: accept must be media types, such as application/json')
    }
    this.header = types.map((type) => type.trim()).join(', ')
    if (!HEADER_VALUE.test(this.header)) {
      throw new TypeError('fetch: accept has characters that no header can have')
    }
  }

  has (contentType: string): boolean {
    const type = essenceOf(contentType)
    return this.#types.some((range) => (
      range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
    ))
  }
}

function essenceOf (type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase()
}
