// Turns an error that a file of the catalog caused into a problem of that file.

import { cut } from '../../base/text.ts'
import { messageOf } from '../../base/words.ts'
import type { PassedOver } from '../compiled/contents.ts'
import type { Problem } from '../compiled/problem.ts'

/** Collects what is wrong with the files of a catalog, and the files that are not loaded. */
export interface FileFindings { readonly problems: Problem[], readonly passedOver: PassedOver[] }

/**
 * @param file the path in the catalog folder.
 * @param absolutePath the same file, as the stack of the error has it.
 */
export function toFileProblem (error: unknown, file: string, absolutePath: string): Problem {
  return { file, place: placeOf(error, absolutePath), ...columnOf(error), rule: ruleOf(error) }
}

/** Returns the line of `file` where an error arose. Empty if the error does not tell. */
export function placeOf (error: unknown, file: string): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('loc' in error && typeof error.loc === 'object' && error.loc !== null && 'line' in error.loc) {
    return `line ${String(error.loc.line)}`
  }
  if ('linePos' in error && Array.isArray(error.linePos)) return `line ${String(error.linePos[0]?.line)}`
  const stack = error instanceof Error ? error.stack ?? '' : ''
  const at = stack.indexOf(`${file}:`)
  const [, line] = at === -1 ? [] : /^(\d+)/.exec(stack.slice(at + file.length + 1)) ?? []
  return line === undefined ? '' : `line ${line}`
}

/** Returns the column of an error of syntax, from 1, as a member of its problem. */
export function columnOf (error: unknown): { readonly column?: number } {
  if (typeof error !== 'object' || error === null) return {}
  if ('linePos' in error && Array.isArray(error.linePos)) return { column: Number(error.linePos[0]?.col) }
  const { loc } = 'loc' in error ? error : { loc: undefined }
  return typeof loc === 'object' && loc !== null && 'column' in loc ? { column: Number(loc.column) + 1 } : {}
}

/** What Node says when the stack is full: the parser of YAML calls itself for each level. */
const STACK_IS_FULL = 'Maximum call stack size exceeded'

/** The longest message of an error in a problem. */
const MAX_RULE = 600

/**
 * Returns the message of an error on one line. A syntax error has the source after its first line; the
 * problem has the place instead. After "Require stack:" Node lists the modules that asked for a missing one.
 */
export function ruleOf (error: unknown): string {
  const message = messageOf(error)
  if (message.startsWith(STACK_IS_FULL)) return 'is nested too deeply, or calls itself without an end'
  const [first = '', ...nextLines] = message.split('\n')
  if (isSyntaxProblem(error)) return first.replace(/ at line \d+, column \d+:$/, '')
  const end = nextLines.findIndex((line) => line.startsWith('Require stack:'))
  const lines = [first, ...end === -1 ? nextLines : nextLines.slice(0, end)].map((line) => line.trim())
  return cut(lines.filter((line) => line !== '').join(' '), MAX_RULE)
}

function isSyntaxProblem (error: unknown): boolean {
  return error instanceof SyntaxError ||
    (typeof error === 'object' && error !== null && ('loc' in error || 'linePos' in error))
}
