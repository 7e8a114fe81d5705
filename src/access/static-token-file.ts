// Reads the file of static tokens.

import { LineCounter, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'

export interface StaticTokenEntry {
  /** The SHA-256 hash of the token, in lower-case hexadecimal. */
  readonly sha256: string
  readonly subject: string
  readonly scopes: readonly string[]
  readonly clientId?: string
  /** A date, such as 2027-01-01, or a date and time with a zone. */
  readonly expiresAt: string
}

const HASH = /^[\da-f]{64}$/
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
const FIELDS = ['sha256', 'subject', 'scopes', 'clientId', 'expiresAt']

/** The entries by their hash. Throws an Error that names the line, and quotes nothing of the file. */
export function readStaticTokens (text: string): ReadonlyMap<string, StaticTokenEntry> {
  const lines = new LineCounter()
  // Every scalar is a text, so that a subject such as 0042 stays as it is.
  const { contents, errors: [error] } = parseDocument(text, {
    schema: 'failsafe', lineCounter: lines, prettyErrors: false, version: '1.2'
  })
  const lineOf = (offset = 0) => lines.linePos(offset).line
  if (error !== undefined) throw new Error(`line ${lineOf(error.pos[0])} is not YAML (${error.code})`)
  const entries = new Map<string, StaticTokenEntry>()
  if (contents === null) return entries
  if (!isSeq(contents)) throw new Error('the file is not a list of tokens')
  for (const item of contents.items) {
    const line = lineOf(isMap(item) ? item.range?.[0] : 0)
    const entry = readEntry(item, `line ${line}`)
    if (entries.has(entry.sha256)) throw new Error(`line ${line} has the same sha256 as a line before`)
    entries.set(entry.sha256, entry)
  }
  return entries
}

function readEntry (item: unknown, place: string): StaticTokenEntry {
  if (!isMap(item)) throw new Error('the file has an entry that is not a map of fields')
  const unknown = item.items.find(({ key }) => !isScalar(key) || !FIELDS.includes(String(key.value)))
  // A misspelled field must not pass for an absent one.
  if (unknown !== undefined) throw new Error(`${place} has a field that is none of ${FIELDS.join(', ')}`)
  const clientId = item.get('clientId')
  return {
    sha256: readText(item, 'sha256', place, HASH, '64 hexadecimal digits in lower case'),
    subject: readText(item, 'subject', place),
    scopes: readScopes(item, place),
    expiresAt: readDate(item, place),
    ...(clientId !== undefined && { clientId: readText(item, 'clientId', place) })
  }
}

function readText (item: YAMLMap, field: string, place: string, form = /./, what = 'a text'): string {
  const value = item.get(field)
  if (typeof value === 'string' && form.test(value)) return value
  throw new Error(`${place}: ${field} must be ${what}`)
}

function readDate (item: YAMLMap, place: string): string {
  const text = readText(item, 'expiresAt', place, DATE, 'a date, or a date and time with a zone')
  if (Number.isNaN(Date.parse(text))) throw new Error(`${place}: expiresAt is a day that does not exist`)
  return text
}

function readScopes (item: YAMLMap, place: string): readonly string[] {
  const list = item.get('scopes')
  if (!isSeq(list)) throw new Error(`${place}: scopes must be a list`)
  return list.items.map((scope) => {
    if (isScalar(scope) && typeof scope.value === 'string' && scope.value !== '') return scope.value
    throw new Error(`${place}: each of the scopes must be a text`)
  })
}
