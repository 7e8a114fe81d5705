// Errors of PostgreSQL and of its driver that are safe to log. Their details contain records.

import { codeOf } from '../../../../base/words.ts'
import { DriverError } from '../driver-error.ts'
import { StoreUnavailable } from '../../records/state-store.ts'

/** Its code is an SQLSTATE of five letters or digits, or one of Node.js. */
export class PostgresError extends DriverError {
  override readonly name = 'PostgresError'
}

const QUOTED = /'[^']*'|"[^"]*"/g
/** The codes of errors whose messages quote what was sent: those of data and of constraints. */
const QUOTES_DATA = /^2[23]...$/
/**
 * The codes of mistakes in statements and in their data: a name may be too long for an index. A missing
 * right, table or function is no mistake: an operator may bring it back.
 */
const MISTAKE = /^(?:22...|42(?!501|P01|883)...|54000)$/

/** For `catch` of a promise. */
export function throwPostgresError (error: unknown): never { throw toPostgresError(error) }

/** For `catch` of a promise. A mistake in a statement is no outage: it is thrown as it is. */
export function throwAsUnavailable (error: unknown): never {
  const postgresError = toPostgresError(error)
  if (isMistake(postgresError)) throw postgresError
  throw new StoreUnavailable(postgresError)
}

export function toPostgresError (error: unknown): PostgresError {
  if (error instanceof PostgresError) return error
  if (!(error instanceof Error)) return new PostgresError('the driver threw a value that is not an error')
  const code = codeOf(error)
  const message = error instanceof AggregateError
    ? error.errors.map((part) => toPostgresError(part).message).join(', ')
    : error.message
  const isQuoting = typeof code === 'string' && QUOTES_DATA.test(code)
  return new PostgresError(isQuoting ? message.replaceAll(QUOTED, '…') : message, code).withFramesOf(error)
}

/** Whether the statement, or its data, is wrong. It has changed nothing then. */
export function isMistake (error: unknown): boolean {
  return error instanceof PostgresError && MISTAKE.test(error.code ?? '')
}

export function hasCode (error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}
