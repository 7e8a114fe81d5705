// The file of static tokens: makes its lines, and reads them.

import { readFile } from 'node:fs/promises'
import { LineCounter, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { random } from '../base/time.ts'
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

/** Makes a token, and its line for the file. Nobody can read the token from the line. */
export function createStaticToken (
  { subject, scopes, clientId, expiresAt }: NewStaticToken
): { readonly token: string, readonly entry: string } {
  // 256 random bits cannot be guessed, so a fast hash without salt protects them as well as a slow one.
  const token = `${STATIC_TOKEN_PREFIX}${random.name(32)}`
  const fields = { sha256: hashToken(token), subject, scopes, clientId, expiresAt }
  return { token, entry: `- ${JSON.stringify(fields)}` }
}

/** Rejects if the file cannot be read: with an Error that names the line, and quotes nothing of the file. */
export async function loadStaticTokens (file: string): Promise<StaticTokens> {
  const text = await readFile(file, 'utf8')
  const lines = new LineCounter()
  // Every scalar is a text, so that a subject such as 0042 stays as it is.
  const { contents, errors: [error] } = parseDocument(text, {
    schema: 'failsafe', lineCounter: lines, prettyErrors: false, version: '1.2'
  })
  const lineOf = (offset = 0) => lines.linePos(offset).line
  if (error !== undefined) throw new Error(`line ${lineOf(error.pos[0])} is not YAML (${error.code})`)
  const tokens = new Map<string, StaticToken>()
  if (contents === null) return tokens
  if (!isSeq(contents)) throw new Error('the file is not a list of tokens')
  for (const item of contents.items) {
    const line = lineOf(isMap(item) ? item.range?.[0] : 0)
    const token = readStaticToken(item, `line ${line}`)
    if (tokens.has(token.sha256)) throw new Error(`line ${line} has the same sha256 as a line before`)
    tokens.set(token.sha256, token)
  }
  return tokens
}

function readStaticToken (item: unknown, place: string): StaticToken {
  if (!isMap(item)) throw new Error('the file has an entry that is not a map of fields')
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

function readText (item: YAMLMap, field: string, place: string, form = /./, what = 'a text'): string {
  const value = item.get(field)
  if (typeof value === 'string' && form.test(value)) return value
  throw new Error(`${place}: ${field} must be ${what}`)
}

function readDate (item: YAMLMap, place: string): number {
  const ms = Date.parse(readText(item, 'expiresAt', place, DATE, 'a date, or a date and time with a zone'))
  if (Number.isNaN(ms)) throw new Error(`${place}: expiresAt is a day that does not exist`)
  return ms
}

function readScopes (item: YAMLMap, place: string): readonly string[] {
  const list = item.get('scopes')
  if (!isSeq(list)) throw new Error(`${place}: scopes must be a list`)
  return list.items.map((scope) => {
    if (isScalar(scope) && typeof scope.value === 'string' && scope.value !== '') return scope.value
    throw new Error(`${place}: each of the scopes must be a text`)
  })
}
