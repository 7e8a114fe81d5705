// The file of static tokens: makes its lines, and reads them.

import {
  LineCounter, isMap, isNode, isScalar, isSeq, parseDocument, type ErrorCode, type YAMLMap
} from 'yaml'
import { readPlainFile } from '../../base/file-system.ts'
import { random } from '../../base/time.ts'
import type { Principal } from './principal.ts'
import { hashToken } from './token.ts'

export interface NewStaticToken {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly clientId?: string
  readonly expiresAt: Date
}

export interface StaticToken {
  /** The SHA-256 hash of the token, in lower-case hexadecimal. */
  readonly sha256: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
  readonly principal: Principal
}

/** The tokens by their hash. */
export type StaticTokens = ReadonlyMap<string, StaticToken>

/** All static tokens begin with it, so that secret scanners find them. */
export const STATIC_TOKEN_PREFIX = 'trv_'

const HASH = /^[\da-f]{64}$/
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
const FIELDS = ['sha256', 'subject', 'scopes', 'clientId', 'expiresAt']

/** The messages of the parser quote the file. */
const YAML_PROBLEMS: { readonly [K in ErrorCode]?: string } = {
  BAD_INDENT: ': a bracket is not closed, or the indentation is wrong',
  DUPLICATE_KEY: ': it has a field twice',
  MISSING_CHAR: ': a quote, a comma or a space is missing',
  MULTIPLE_DOCS: ': the file has a second document',
  TAB_AS_INDENT: ': it is indented by a tab'
}

/** Makes a token, and its line for the file. The line does not reveal the token. */
export function createStaticToken (
  { subject, scopes, clientId, expiresAt }: NewStaticToken
): { readonly token: string, readonly entry: string } {
  // 256 random bits cannot be guessed, so a fast hash without salt protects them as well as a slow one.
  const token = `${STATIC_TOKEN_PREFIX}${random.name(32)}`
  const fields = { sha256: hashToken(token), subject, scopes, clientId, expiresAt }
  return { token, entry: `- ${JSON.stringify(fields)}` }
}

/** The tokens of a file, and its first mistake, which names the line and quotes nothing of the file. */
export interface StaticTokenFile {
  readonly tokens: StaticTokens
  readonly problem: Error | undefined
}

/**
 * Rejects if the file cannot be read. A line with a mistake keeps the token that it had before, and no other
 * line does: whoever deletes a line takes its token back, whatever else is wrong.
 */
export async function loadStaticTokens (file: string, before: StaticTokens): Promise<StaticTokenFile> {
  const text = String(await readPlainFile(file))
  const lines = new LineCounter()
  // Every scalar is a text, so that a subject such as 0042 stays as it is.
  const { contents, errors: [error] } = parseDocument(text, {
    schema: 'failsafe', lineCounter: lines, prettyErrors: false, version: '1.2'
  })
  const lineOf = (offset = 0) => lines.linePos(offset).line
  if (error !== undefined) {
    const reason = YAML_PROBLEMS[error.code] ?? ''
    const problem = new Error(`line ${lineOf(error.pos[0])} is not YAML${reason}`)
    return { tokens: keepNamed(before, text), problem }
  }
  if (contents === null) return { tokens: new Map(), problem: undefined }
  if (!isSeq(contents)) {
    return { tokens: keepNamed(before, text), problem: new Error('the file is not a list of tokens') }
  }
  return readEntries(contents.items, before, (item) => lineOf(isNode(item) ? item.range?.[0] : 0))
}

/** Keeps the tokens that the text names outside of comments: it cannot be read as a list. */
function keepNamed (before: StaticTokens, text: string): StaticTokens {
  const data = text.replace(/(?:^|\s)#.*$/gm, '')
  return new Map([...before].filter(([sha256]) => data.includes(sha256)))
}

function readEntries (
  items: readonly unknown[], before: StaticTokens, lineOf: (item: unknown) => number
): StaticTokenFile {
  const tokens = new Map<string, StaticToken>()
  const doubtful = new Set<string>()
  let problem: Error | undefined
  for (const item of items) {
    const line = lineOf(item)
    const sha256 = isMap(item) ? String(item.get('sha256')) : ''
    try {
      const token = readStaticToken(item, `line ${line}`)
      if (tokens.has(sha256)) throw new Error(`line ${line} has the same sha256 as a line before`)
      tokens.set(sha256, token)
    } catch (error) {
      problem ??= error instanceof Error ? error : new Error(`line ${line} cannot be read`)
      doubtful.add(sha256)
    }
  }
  for (const sha256 of doubtful) {
    const token = before.get(sha256)
    if (token === undefined) tokens.delete(sha256)
    else tokens.set(sha256, token)
  }
  return { tokens, problem }
}

function readStaticToken (item: unknown, place: string): StaticToken {
  if (!isMap(item)) throw new Error(`${place} is not a map of fields`)
  const unknown = item.items.find(({ key }) => !isScalar(key) || !FIELDS.includes(String(key.value)))
  // A misspelled field must not pass for an absent one.
  if (unknown !== undefined) throw new Error(`${place} has a field that is none of ${FIELDS.join(', ')}`)
  const sha256 = readText(item, 'sha256', place, HASH, '64 hexadecimal digits in lower case')
  const subject = readText(item, 'subject', place)
  const scopes = new Set(readScopes(item, place))
  const expiresAt = readDate(item, place)
  const client = item.get('clientId') !== undefined && { clientId: readText(item, 'clientId', place) }
  return { sha256, expiresAt, principal: Object.freeze({ subject, scopes, expiresAt, ...client }) }
}

function readText (item: YAMLMap, field: string, place: string, form = /./, expectation = 'a text'): string {
  const value = item.get(field)
  if (typeof value === 'string' && form.test(value)) return value
  throw new Error(`${place}: ${field} must be ${expectation}`)
}

function readDate (item: YAMLMap, place: string): number {
  const text = readText(item, 'expiresAt', place, DATE, 'a date, or a date and time with a zone')
  const ms = Date.parse(text)
  if (Number.isNaN(ms) || !hasRealDay(text)) {
    throw new Error(`${place}: expiresAt is a day that does not exist`)
  }
  return ms
}

/** Whether the day of an ISO date exists. The parser takes the 31st of February for the 3rd of March. */
export function hasRealDay (text: string): boolean {
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  if (day === undefined) return true
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

function readScopes (item: YAMLMap, place: string): readonly string[] {
  const list = item.get('scopes')
  if (!isSeq(list)) throw new Error(`${place}: scopes must be a list`)
  return list.items.map((scope) => {
    if (isScalar(scope) && typeof scope.value === 'string' && scope.value !== '') return scope.value
    throw new Error(`${place}: each of the scopes must be a text`)
  })
}
