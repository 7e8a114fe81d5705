// Reads a value that came as a text of JSON, under the rules that bodies have. Numbers keep all digits.

import { leaveStacksOut } from '../../../base/stackless-error.ts'
import { costOfText, spend } from '../check-cost.ts'
import { createStructureCheck, STRUCTURE_LIMITS } from '../json-structure.ts'

/** The beginning of a value that is neither a text nor null. */
const BEGINNING = /^[ \t\n\r]*[[{\-\dtf]/
/** A text has this if a key may change the prototype of an object. */
const SUSPECT = /__proto__|constructor|\\u/
/** JSON has this if a key does so. Quotes in texts have a backslash before them. */
const UNSAFE_KEY = /"__proto__":|"constructor":\{/
const LONG_NUMBER = /[\d.]{16}|\de/i
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:e[+-]?\d+)?/gi
/** A text, or a number that loses no digits. Another number must be written as JavaScript writes it. */
const EXACT_TOKEN = /^"|^-?[\d.]{1,15}(?:e[+-]?\d\d?)?$/i
/** Steps for each character: to read it takes longer than to compare it. */
const READ_STEPS = 0.02
/** The message, its params and the arguments are around an argument. */
const DEPTH_AROUND = 2

const findProblem = createStructureCheck(STRUCTURE_LIMITS)

/**
 * Returns `undefined` for a text, for null, and for what is no JSON, would lose digits, or is too much. All
 * texts of a repair have 125,000 characters at most, since each takes steps.
 */
export function readJsonText (text: string, depth: number): unknown {
  if (!BEGINNING.test(text)) return undefined
  spend(costOfText(text.length) + text.length * READ_STEPS)
  if (findProblem(Buffer.from(text), depth + DEPTH_AROUND) !== undefined) return undefined
  const value = parse(text)
  const isRefused = value === undefined || (LONG_NUMBER.test(text) && hasInexactNumber(text)) ||
    (SUSPECT.test(text) && UNSAFE_KEY.test(JSON.stringify(value)))
  return isRefused ? undefined : value
}

function parse (text: string): unknown {
  const restoreStacks = leaveStacksOut()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  } finally {
    restoreStacks()
  }
}

function hasInexactNumber (json: string): boolean {
  for (const [token] of json.matchAll(TOKEN)) {
    if (!EXACT_TOKEN.test(token) && token !== String(Number(token))) return true
  }
  return false
}
