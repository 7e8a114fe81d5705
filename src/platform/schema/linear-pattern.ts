// Patterns of JSON Schema, matched in time linear in the text. The author writes the pattern and a client
// sends the text. JavaScript's RegExp backtracks: it may need seconds for a text of 36 characters.

import { RE2JS } from 're2js'
import { messageOf } from '../../base/words.ts'

export interface LinearPattern {
  test (text: string): boolean
  /** The pattern. ajv knows patterns by it. */
  toString (): string
}

/** `\s` of JavaScript. RE2 knows only its ASCII members. */
const SPACES = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}' +
  '\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NO_SPACES = '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}' +
  '\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}' +
  '\\x{ff00}-\\x{10ffff}'
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** The tokens that RE2 writes differently, the ends of classes, and all other escapes. */
const TOKEN = new RegExp([
  /\\x\{(?<high>d[89ab]..)\}\\x\{(?<low>d[c-f]..)\}/,
  /\\(?<class>[pP])\{(?:Script|sc|General_Category|gc)=(?<value>\w+)\}/,
  /\\(?:[pPx]\{.+?\}|.)/, /\[\^?/, /\]/, /\./
].map(({ source }) => source).join('|'), 'gisu')

/**
 * Compiles the pattern as JavaScript reads it with the flag `u`. Throws a SyntaxError where the pattern is
 * invalid, or cannot be matched in linear time: it has a look-around elsewhere than at its start, or a
 * back-reference.
 */
export function createLinearPattern (pattern: string): LinearPattern {
  // Reports an invalid pattern as authors know it.
  const { source } = new RegExp(pattern, 'u')
  try {
    const { lookaheads, rest: remainder } = splitLookaheads(source)
    const conditions = lookaheads.map(({ isNegative, body }) => {
      return { isNegative, compiled: compile(`^(?:${body})`) }
    })
    const compiled = compile(remainder)
    return {
      toString: () => pattern,
      test: (text) => compiled.test(text) &&
        conditions.every((condition) => condition.compiled.test(text) !== condition.isNegative)
    }
  } catch (cause) {
    const reason = messageOf(cause)
    throw new SyntaxError(`pattern "${pattern}" cannot be matched in linear time (${reason})`, { cause })
  }
}

function compile (source: string): RE2JS {
  let isInClass = false
  return RE2JS.compile(RE2JS.translateRegExp(source).replace(TOKEN, (token: string, ...parts: unknown[]) => {
    const groups = Object(parts.at(-1))
    if (groups.high !== undefined) return toCodePoint(groups.high, groups.low)
    if (groups.value !== undefined) return `\\${groups.class}{${groups.value}}`
    if (token === ']') isInClass = false
    else if (token.startsWith('[') && !isInClass) isInClass = true
    else if (token === '.' && !isInClass) return NO_LINE_END
    else if (token === '\\b' && isInClass) return '\\x08'
    else if (token === '\\s') return isInClass ? SPACES : `[${SPACES}]`
    else if (token === '\\S') return isInClass ? NO_SPACES : `[${NO_SPACES}]`
    return token
  }))
}

function toCodePoint (high: string, low: string): string {
  return `\\x{${String.fromCharCode(parseInt(high, 16), parseInt(low, 16)).codePointAt(0)?.toString(16)}}`
}

interface Lookahead { readonly isNegative: boolean, readonly body: string }

/**
 * Takes the lookaheads out that follow a leading `^`: each is a condition on the whole text, which is tested
 * on its own. A pattern with alternatives at its top level is left as it is.
 */
function splitLookaheads (source: string): { readonly lookaheads: Lookahead[], readonly rest: string } {
  const lookaheads: Lookahead[] = []
  let parts = source
  if (!source.startsWith('^') || hasAlternatives(source)) return { lookaheads, rest: parts }
  for (let group = /^\^\(\?[=!]/.exec(parts); group !== null; group = /^\^\(\?[=!]/.exec(parts)) {
    const end = endOfGroup(parts, 1)
    lookaheads.push({ isNegative: group[0].endsWith('!'), body: parts.slice(4, end - 1) })
    parts = `^${parts.slice(end)}`
  }
  return { lookaheads, rest: parts }
}

/** Escapes, whole character classes, and the signs that structure a pattern. */
const STRUCTURE = /\\.|\[(?:\\.|[^\]\\])*\]|[()|]/gsu

function hasAlternatives (source: string): boolean {
  let depth = 0
  for (const [token] of source.matchAll(STRUCTURE)) {
    if (token === '(') depth++
    else if (token === ')') depth--
    else if (token === '|' && depth === 0) return true
  }
  return false
}

/** Finds where the group ends that begins at the position. */
function endOfGroup (source: string, start: number): number {
  let depth = 0
  for (const { 0: token, index } of source.slice(start).matchAll(STRUCTURE)) {
    if (token === '(') depth++
    else if (token === ')' && --depth === 0) return start + index + 1
  }
  return source.length
}
