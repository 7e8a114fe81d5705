// Reads passwords from a file, as libpq does: each line is host:port:database:user:password.
// https://www.postgresql.org/docs/current/libpq-pgpass.html

import { readPlainFile } from '../../../../../base/file-system.ts'
import { codeOf, messageOf } from '../../../../../base/words.ts'
import type { ServerHost } from '../../server-address.ts'
import type { PostgresAddress } from './address.ts'
import { PostgresError } from '../postgres-error.ts'

/** A colon or a backslash within a field has a backslash before it. */
const FIELD = /((?:\\.|[^:\\])*)(?::|$)/y

/**
 * Resolves to the password of the first line that fits. Rejects with a PostgresError that names the file, if
 * it cannot be read or no line fits.
 */
export async function readPassFile (
  file: string, { host, port }: ServerHost, { database, user }: Pick<PostgresAddress, 'database' | 'user'>
): Promise<string> {
  const bytes = await readPlainFile(file).catch((error: unknown) => {
    const reason = String(codeOf(error) ?? messageOf(error))
    throw new PostgresError(`the file of passfile, ${file}, cannot be read (${reason})`)
  })
  const fields = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of String(bytes).split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const { values, rest: password } = readFields(line, fields.length)
    const isFit = values.length === fields.length &&
      fields.every((field, index) => values[index] === '*' || values[index] === field)
    if (isFit) return unescape(password)
  }
  throw new PostgresError(`no line of the file of passfile, ${file}, is for ${fields.join(':')}`)
}

/** Returns the first fields, and what comes after them: a password may have colons without a backslash. */
function readFields (line: string, count: number): { readonly values: string[], readonly rest: string } {
  const values: string[] = []
  FIELD.lastIndex = 0
  while (values.length < count) {
    const field = FIELD.exec(line)
    // The last field ends with the line: there is no password.
    if (field?.[1] === undefined || !field[0].endsWith(':')) return { values: [], rest: '' }
    values.push(unescape(field[1]))
  }
  return { values, rest: line.slice(FIELD.lastIndex) }
}

function unescape (text: string): string { return text.replaceAll(/\\(.)/g, '$1') }
