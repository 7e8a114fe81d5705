// Brings the schema to the version of this release, and checks that the role may use it.

import { toPostgresError } from '../postgres-error.ts'
import type { Connection } from '../connections/postgres-connection.ts'
import { describeMissingRights, toFindMissingRights, toLack } from './rights.ts'
import { SCHEMA_VERSION, toColumns, toFunctions, toLock, type SchemaNames } from './schema.ts'
import { toMigration } from './schema-text.ts'
import { quoteText, readNumber, readText, type AnswerRow } from '../statement.ts'

/** Replicas that start together wait for the one that migrates. */
const MIGRATION_LIMITS = "SET LOCAL lock_timeout = '4s'; SET LOCAL statement_timeout = '20s'"
/** In the form of `server_version_num`. */
const OLDEST_SERVER = 120_000
const MISSING_RIGHT = '42501'
/** Another one made the schema at the same time. */
const CONFLICT = /^(?:23505|42P06|42P07|42723|40...|XX000)$/
const LOCKED = '55P03'
/** The server ends the connection. */
const ENDING = /^(?:08...|57P0.)$/
/** A part of the schema is missing, or is something else. */
const FOREIGN = /^42(?:703|P01|704|804|809|830|883)$/

/** Why the schema cannot be used, and what to do. */
export class MigrationError extends Error {
  /** Whether another attempt, with a new connection, may succeed. */
  readonly isPassing: boolean

  constructor (problem: string, options: ErrorOptions & { readonly isPassing?: boolean } = {}) {
    super(`TRIVET_STATE_URL: ${problem}`, options)
    this.isPassing = options.isPassing ?? false
  }
}

/**
 * Resolves to what `findRisk` returns. Rejects with a MigrationError: if the role may not create the schema,
 * if it lacks a right, if this release is too old for the schema, if the server is too old, or if the
 * database cannot store every text.
 */
export async function prepareSchema (
  connection: Connection, names: SchemaNames
): Promise<string | undefined> {
  let role = ''
  try {
    role = await checkServer(connection)
    const version = await findVersion(connection, names)
    if (version < SCHEMA_VERSION) await migrate(connection, names)
    await checkParts(connection, names)
    await checkRights(connection, names)
    return await findRisk(connection)
  } catch (error) {
    if (error instanceof MigrationError) throw error
    const cause = toPostgresError(error)
    if (cause.code === MISSING_RIGHT) {
      const missing = `it may not create or use the schema ${names.schema}`
      throw new MigrationError(toLack(names.schema, role, missing))
    }
    const code = cause.code ?? ''
    const isPassing = !connection.isOpen || code === LOCKED || CONFLICT.test(code) || ENDING.test(code)
    throw new MigrationError(toProblem(names, cause.message, code), { cause, isPassing })
  }
}

/** Resolves to the role of the connection. */
async function checkServer (connection: Connection): Promise<string> {
  const [[encoding, role, version] = []] = await connection.runText(
    "SELECT getdatabaseencoding(), current_user, current_setting('server_version_num')"
  )
  if (readNumber(version) < OLDEST_SERVER) {
    const major = Math.floor(readNumber(version) / 10_000)
    throw new MigrationError(`the server has version ${major}. Version 12 or later is needed`)
  }
  if (encoding !== 'UTF8') {
    const problem = `the database has the encoding ${String(encoding)}`
    throw new MigrationError(`${problem}. Create one with the encoding UTF8`)
  }
  return readText(role)
}

function toProblem ({ schema }: SchemaNames, message: string, code: string): string {
  if (code === LOCKED) {
    return `somebody locks the schema ${schema} (${message}). End that transaction, and start again`
  }
  if (CONFLICT.test(code)) {
    return `another program changes the schema ${schema} at the same time (${message}). Start again`
  }
  if (FOREIGN.test(code)) return toForeign(schema, message)
  return `the schema ${schema} cannot be made or checked (${message}). Correct that, and start again`
}

function toForeign (schema: string, missing: string): string {
  return `the schema ${schema} is not complete, or belongs to another application (${missing}). Set ` +
    'TRIVET_STATE_PREFIX to another name, or apply the SQL that ' +
    `"npx trivet state schema --prefix ${schema}" prints`
}

/** Resolves to what the operator should know about the durability of writes. `undefined` if nothing. */
export async function findRisk (connection: Connection): Promise<string | undefined> {
  const [[commit, standbys] = []] = await connection.runText(
    "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names')"
  )
  const setting = `synchronous_commit is ${String(commit)} for this role or database`
  if (commit === 'off') return `${setting}: a crash loses writes that were acknowledged`
  if (standbys === '' || commit === 'on' || commit === 'remote_apply') return undefined
  return `${setting}: the loss of the server loses writes that were acknowledged and that no standby has kept`
}

/** Resolves to 0 if there is no schema. */
async function findVersion (connection: Connection, names: SchemaNames): Promise<number> {
  const [[table] = []] = await connection.runText(`SELECT to_regclass(${quoteText(names.versions)})`)
  if (table === null) return 0
  const [row] = await connection.runText(
    `SELECT version, oldest_user FROM ${names.versions} ORDER BY version DESC LIMIT 1`
  )
  return row === undefined ? 0 : readVersion(row, names)
}

function readVersion ([version, oldestUser]: AnswerRow, { schema }: SchemaNames): number {
  if (readNumber(oldestUser) > SCHEMA_VERSION) {
    const problem = `the schema ${schema} has version ${readNumber(version)}, made by a later release`
    throw new MigrationError(`${problem}; this release knows version ${SCHEMA_VERSION}. Run a release that ` +
      `knows version ${readNumber(oldestUser)} or later, or restore a copy of the database from before`)
  }
  return readNumber(version)
}

async function migrate (connection: Connection, names: SchemaNames): Promise<void> {
  await connection.runText(`BEGIN ISOLATION LEVEL READ COMMITTED; ${MIGRATION_LIMITS}`)
  try {
    await connection.runText(`SELECT pg_advisory_xact_lock(${toLock(names, 'migration')})`)
    const version = await findVersion(connection, names)
    if (version < SCHEMA_VERSION) await connection.runText(toMigration(names, version))
    await connection.runText('COMMIT')
  } catch (error) {
    // The connection may be lost. Its error would hide the cause.
    await connection.runText('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Reads the catalogs: a lock of a table does not delay the start. */
async function checkParts (connection: Connection, names: SchemaNames): Promise<void> {
  const columns = [...toColumns(names)].flatMap(([table, all]) => (
    all.map((column) => `(${quoteText(table)}, ${quoteText(column)})`)
  ))
  const functions = toFunctions(names).map((signature) => `(${quoteText(signature)})`)
  const missing = await connection.runText(`
    SELECT part || ' (' || name || ')' FROM (VALUES ${columns.join(', ')}) AS columns(part, name)
    WHERE NOT EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = to_regclass(part) AND attname = name AND NOT attisdropped
    )
    UNION ALL
    SELECT part FROM (VALUES ${functions.join(', ')}) AS functions(part) WHERE to_regprocedure(part) IS NULL
  `)
  if (missing.length === 0) return
  throw new MigrationError(toForeign(names.schema, missing.map(([part]) => readText(part)).join(', ')))
}

async function checkRights (connection: Connection, names: SchemaNames): Promise<void> {
  const problem = describeMissingRights(await connection.runText(toFindMissingRights(names)), names)
  if (problem !== undefined) throw new MigrationError(problem)
}
