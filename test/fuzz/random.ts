// A generator of random values from one seed: the same seed makes the same values on every machine.

import { CLIENT_CANARY } from './canaries.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Texts that have broken parsers. */
const ODD_TEXTS = [
  '', ' ', '\u0000', '\r\n', '"', '\\', '{{x}}', '%', '%2', '%00', '%ff', '../../../etc/passwd', '\ud800',
  '\u202e', '\ufeff', 'é', '🦑', 'a'.repeat(300), '__proto__', 'constructor', 'toString', '=?base64?####?=',
  '=?base64?w6k=?=', '-1', '1e999', 'NaN', 'null', 'true', 'file:///etc/passwd', 'http://localhost/',
  'skill://', 'app://', '//', '*', 'ref/prompt', '\u2028', '١٢', CLIENT_CANARY
]
const ODD_NUMBERS = [
  0, -0, 1, -1, 0.5, 1e21, -1e21, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, Number.MAX_VALUE, Number.MIN_VALUE
]
const ODD_KEYS = [
  'toString', 'constructor ', 'length', '', 'name', 'uri', 'type', '0', 'hasOwnProperty', 'then', '$ref',
  'valueOf'
]

export class Random {
  #state: number

  constructor (seed: number) {
    this.#state = seed >>> 0
  }

  /** A generator of its own for one number of a series. */
  static of (seed: number, index: number): Random {
    const random = new Random(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35))
    random.next()
    return random
  }

  /** From 0 to below 1: mulberry32. */
  next (): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 to below `end`. */
  below (end: number): number { return Math.floor(this.next() * end) }

  chance (probability: number): boolean { return this.next() < probability }

  pick<T> (values: readonly T[]): T {
    const value = values[this.below(values.length)]
    if (value === undefined && values.length === 0) throw new RangeError('nothing to pick from')
    return value as T
  }

  /** Picks one of the weighted values. */
  weighted<T> (choices: ReadonlyArray<readonly [weight: number, value: T]>): T {
    let rest = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of choices) {
      rest -= weight
      if (rest < 0) return value
    }
    return this.pick(choices)[1]
  }

  text (): string {
    if (this.chance(0.5)) return this.pick(ODD_TEXTS)
    const length = this.below(12)
    return Array.from({ length }, () => String.fromCodePoint(this.#codePoint())).join('')
  }

  #codePoint (): number {
    return this.weighted([[8, 0x20 + this.below(95)], [1, this.below(0x20)], [1, 0x80 + this.below(0xfff)]])
  }

  number (): number {
    return this.chance(0.5) ? this.pick(ODD_NUMBERS) : Math.round((this.next() - 0.5) * 10 ** this.below(12))
  }

  /** A JSON value, not deep. */
  json (depth = 3): Json {
    const kind = this.below(depth > 0 ? 8 : 5)
    if (kind === 0) return null
    if (kind === 1) return this.chance(0.5)
    if (kind === 2) return this.number()
    if (kind < 5) return this.text()
    if (kind === 5) return Array.from({ length: this.below(4) }, () => this.json(depth - 1))
    return Object.fromEntries(Array.from({ length: this.below(4) }, () => [this.key(), this.json(depth - 1)]))
  }

  key (): string {
    const key = this.chance(0.6) ? this.pick(ODD_KEYS) : this.text()
    return key === '__proto__' || key === 'constructor' ? `${key}_` : key
  }
}
