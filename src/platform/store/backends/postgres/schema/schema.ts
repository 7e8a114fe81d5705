// The schema of one prefix: its tables, its functions and its versions.

import { quoteName, quoteText } from '../statement.ts'

/**
 * The version of the schema that this release makes. Each change is a new entry of MIGRATIONS in
 * schema-text.ts. Older releases run beside newer ones during a deploy: a migration adds tables, columns with
 * a default, and functions under new names. What older releases use is removed by a later release.
 */
export const SCHEMA_VERSION = 1
/** The oldest release, by its SCHEMA_VERSION, that may use a schema of this version. */
export const OLDEST_USER = 1

/** The parts of the schema that statements name. They are quoted. */
export interface SchemaNames {
  /** The name of the schema, without quotes. */
  readonly schema: string
  readonly versions: string
  readonly records: string
  readonly dueTimes: string
  readonly streams: string
  readonly events: string
  readonly calls: string
  readonly channel: string
  readonly messages: string
  readonly createRecords: string
  readonly countCalls: string
}

/** In bytes. PostgreSQL cuts longer names. */
const MAX_NAME_LENGTH = 63
const RESERVED = /^(?:pg_.*|public|information_schema)$/

/** Throws an Error if PostgreSQL has no schema of this name, or uses it itself. */
export function toNames (prefix: string): SchemaNames {
  if (prefix.length > MAX_NAME_LENGTH || RESERVED.test(prefix)) {
    const rules = `at most ${MAX_NAME_LENGTH} characters, not begin with pg_, and not be public`
    throw new Error(`TRIVET_STATE_PREFIX names a schema of PostgreSQL: it must have ${rules}`)
  }
  const name = (part: string) => `${quoteName(prefix)}.${part}`
  return {
    schema: prefix,
    versions: name('versions'),
    records: name('records'),
    dueTimes: name('due_times'),
    streams: name('streams'),
    events: name('events'),
    calls: name('calls'),
    channel: name('channel'),
    messages: name('messages'),
    createRecords: name('create_records_1'),
    countCalls: name('count_calls_1')
  }
}

/** The columns that statements name, for each table. */
export function toColumns (names: SchemaNames): ReadonlyMap<string, readonly string[]> {
  return new Map([
    [names.versions, ['version', 'oldest_user']],
    [names.records, ['owner', 'name', 'value', 'version', 'idle_ms', 'ends_at', 'expires_at', 'sweep_at']],
    [names.dueTimes, ['entry', 'due_at', 'generation']],
    [names.streams, ['stream', 'expires_at']],
    [names.events, ['stream', 'position', 'text']],
    [names.calls, ['key', 'parts', 'counts', 'expires_at']],
    [names.channel, ['id', 'epoch', 'last_id', 'removed_id']],
    [names.messages, ['id', 'origin', 'text', 'sent_at']]
  ])
}

/** The functions that statements call, with the types of their arguments. */
export function toFunctions ({ createRecords, countCalls }: SchemaNames): readonly string[] {
  return [
    `${createRecords}(text, text[], bytea[], text[], bigint[], bigint[], bigint[])`,
    `${countCalls}(integer[], text[], bigint[], double precision[])`
  ]
}

/** The number of a lock of the whole schema, as an expression. */
export function toLock ({ schema }: SchemaNames, purpose: string): string {
  return `hashtextextended(${quoteText(`trivet ${purpose} ${schema}`)}, 0)`
}
