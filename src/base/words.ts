// The words of messages: counted nouns, durations, sizes, quoted texts, and the text of an error.

import { inspect } from 'node:util'
import { cut, toWellFormedJson } from './text.ts'

/** Writes a number with its noun: `1 tool`, `2 tools`. */
export function counted (count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

const UNITS = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]] as const

/** The two largest units that are not zero: `1 day`, `1 hour 30 minutes`. Rounded down to the second. */
export function toDuration (ms: number): string {
  let remainderMs = ms
  const counts = UNITS.flatMap(([unit, unitMs]) => {
    const count = Math.floor(remainderMs / unitMs)
    remainderMs -= count * unitMs
    return count === 0 ? [] : [counted(count, unit)]
  })
  return counts.slice(0, 2).join(' ')
}

const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB']

/** Writes a number of bytes in decimal units, as file managers do. Rounded down: it may be a limit. */
export function describeBytes (bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte')
  const power = Math.min(BYTE_UNITS.length, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${value < 10 ? Math.floor(value * 10) / 10 : Math.floor(value)} ${BYTE_UNITS[power - 1]}`
}

/** Returns the message of an error, or the text of any other value that was thrown. */
export function messageOf (error: unknown): string {
  return toText(error instanceof Error ? error.message : error)
}

/** Returns the code of an error of the system or of Node, such as `ENOENT`. `undefined` if it has none. */
export function codeOf (error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Returns the error, or an error with the text of any other value that was thrown. */
export function toError (error: unknown): Error {
  return error instanceof Error ? error : new Error(toText(error))
}

/** Anything can be thrown. `String` fails for an object without a prototype, and says nothing of others. */
function toText (value: unknown): string {
  return typeof value === 'object' && value !== null ? inspect(value, { depth: 1 }) : String(value)
}

/** Quotes a text of others as JSON: it may have line ends, quotes or a megabyte. */
export function quote (text: string, maxLength?: number): string {
  return JSON.stringify(clip(text, maxLength).toWellFormed())
}

/** Cuts a text between two graphemes, and marks the cut. @param maxLength without the mark. */
export function clip (text: string, maxLength = 100): string {
  return text.length <= maxLength ? text : `${cut(text, maxLength)}…`
}

/** Puts a text on one line, without characters that change how the line is shown. */
export function toPlain (text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
}

/** What a terminal obeys instead of showing it: control characters, and those that change the direction. */
const OBEYED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Makes a text of others safe for a terminal. Its lines and tabs stay. */
export function toPlainLines (text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(OBEYED, (c) => c === '\n' || c === '\t' ? c : ' ')
}

/** Makes JSON safe for a terminal, and keeps its well-formed values. @param json indented, or on one line. */
export function toPlainJson (json: string): string {
  return toWellFormedJson(json).replaceAll(OBEYED, (mark) => (
    mark === '\n' ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
  ))
}
