// The lines below that of a call, for its author: the arguments, the result or the error, and the scopes that
// were missing. Each value is on one line, as wide as a terminal.

import { counted, toPlain, toPlainJson } from '../../base/words.ts'

const COLUMNS = 80
/** The longest text within a value: the values beside it are seen too. In columns. */
const TEXT_COLUMNS = 32
const MAX_NAMED_SCOPES = 10

/** No column: it joins the character before it, or is not shown. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u
/** Two columns. */
const WIDE = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/u

interface CallFields {
  readonly arguments?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly neededScopes?: unknown
  readonly callerScopes?: unknown
}

export function toCallLines (
  { arguments: args, result, error, neededScopes, callerScopes }: CallFields
): string[] {
  return [
    ...toValueLine('arguments', args), ...toValueLine('result', result), ...toValueLine('error', error),
    ...toScopesLine(neededScopes, callerScopes)
  ]
}

/** No line for a field that is absent. */
function toValueLine (name: string, value: unknown): string[] {
  if (value === undefined) return []
  const json = JSON.stringify(value, (within, member) => {
    return typeof member === 'string' && within !== '' ? cutToColumns(member, TEXT_COLUMNS) : member
  })
  return [cutToColumns(`  ${name} ${toPlainJson(json)}`, COLUMNS)]
}

/** `needs the scope books:write; the caller has books:read` */
function toScopesLine (required: unknown, granted: unknown): string[] {
  if (!Array.isArray(required) || !Array.isArray(granted)) return []
  const noun = required.length === 1 ? 'scope' : 'scopes'
  return [toPlain(`  needs the ${noun} ${toNames(required)}; the caller has ${toNames(granted)}`)]
}

function toNames (scopes: readonly unknown[]): string {
  if (scopes.length === 0) return 'none'
  const names = scopes.slice(0, MAX_NAMED_SCOPES).map(String)
  const unnamedCount = scopes.length - names.length
  return [...names, ...unnamedCount > 0 ? [`and ${counted(unnamedCount, 'other')}`] : []].join(' ')
}

/** Cuts a text to its columns. A cut text ends in `…`. */
function cutToColumns (text: string, columns: number): string {
  let [width, length, end] = [0, 0, 0]
  for (const character of text) {
    width += NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1
    if (width > columns) return `${text.slice(0, end)}…`
    length += character.length
    if (width < columns) end = length
  }
  return text
}
