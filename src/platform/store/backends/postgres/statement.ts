// Statements of SQL, and what they return.

import { createHash } from 'node:crypto'

export interface Statement {
  /** Names the prepared statement on its connection. Another text never has the same name. */
  readonly name: string
  readonly text: string
}

export type AnswerRow = readonly unknown[]

/** Both shorten the time of a statement, in milliseconds. */
export interface StatementTime {
  /** A deadline of its own. */
  readonly timeoutMs?: number
  /** How long its caller has waited already. */
  readonly waitedMs?: number
}

/** Runs statements. Rejects in time, and runs none twice. */
export interface StatementRunner {
  run (statement: Statement, values?: unknown[], time?: StatementTime): Promise<readonly AnswerRow[]>
}

/**
 * Behind a pooler, services and releases share connections: the name has a digest of the text.
 */
export function toStatement (text: string): Statement {
  return { name: `trivet_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text }
}

/** The time of the server, in whole milliseconds since the epoch. Differs within a statement. */
export const NOW_MS = "(date_part('epoch', clock_timestamp()) * 1000)::bigint"

/**
 * Makes the transaction wait for the standby, so that all that it has seen is on the standby too. Without
 * `synchronous_standby_names` it writes nothing.
 *
 * A row is visible to others after its transaction has waited for the standby, except if that wait was
 * cancelled: the row is then visible, and lost by a failover. An answer that tells of an earlier write
 * therefore writes a message to the log of PostgreSQL, and its own commit waits for all that came before.
 */
export const STANDBY_MARK = `CASE WHEN current_setting('synchronous_standby_names') <> ''
  THEN pg_logical_emit_message(true, 'trivet', '') END`

/** Quotes a name. */
export function quoteName (name: string): string { return `"${name.replaceAll('"', '""')}"` }

/** Quotes a text that is part of a statement. */
export function quoteText (text: string): string { return `'${text.replaceAll("'", "''")}'` }

export function readNumber (value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && value !== '') return Number(value)
  throw new TypeError('the answer of PostgreSQL is no number')
}

export function readText (value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the answer of PostgreSQL is no text')
  return value
}
