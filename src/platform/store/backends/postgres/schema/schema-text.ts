// The SQL of the schema: of each version, and of the whole for operators.

import { toCountCalls, toCreateRecords } from './schema-functions.ts'
import { OLDEST_USER, SCHEMA_VERSION, toLock, toNames, type SchemaNames } from './schema.ts'
import { quoteName, quoteText } from '../statement.ts'

/** @param existing NULL if the SQL is to be run. */
const toRunUnless = (existing: string, sql: string) => `DO $do$ BEGIN
  IF ${existing} IS NULL THEN
    ${sql};
  END IF;
END $do$;`

/** CREATE INDEX waits for all that write the table, and they wait for it, even if the index exists. */
function toIndex ({ schema }: SchemaNames, index: string, columns: string): string {
  const existing = `to_regclass(${quoteText(`${quoteName(schema)}.${index}`)})`
  return toRunUnless(existing, `CREATE INDEX ${index} ON ${columns}`)
}

/** A role that owns its schema may lack the right to create schemas, even one that exists. */
function toCreateSchema ({ schema }: SchemaNames): string {
  const name = quoteName(schema)
  return toRunUnless(`to_regnamespace(${quoteText(name)})`, `CREATE SCHEMA ${name}`)
}

/**
 * `sweep_at` is never later than `expires_at`, and changes seldom: uses of a record touch no index.
 * An unlogged table is empty after a crash of the server, and on a standby that takes over.
 */
const toTables = (names: SchemaNames) => `
CREATE TABLE IF NOT EXISTS ${names.versions} (
  version integer PRIMARY KEY,
  oldest_user integer NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS ${names.records} (
  owner text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bytea NOT NULL,
  version text COLLATE "C" NOT NULL,
  idle_ms bigint NOT NULL,
  ends_at bigint,
  expires_at bigint NOT NULL,
  sweep_at bigint NOT NULL,
  PRIMARY KEY (owner, name)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
${toIndex(names, 'records_sweep_at', `${names.records} (sweep_at)`)}
CREATE TABLE IF NOT EXISTS ${names.dueTimes} (
  entry text COLLATE "C" PRIMARY KEY,
  due_at bigint NOT NULL,
  generation bigint NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
${toIndex(names, 'due_times_due_at', `${names.dueTimes} (due_at)`)}
CREATE UNLOGGED TABLE IF NOT EXISTS ${names.streams} (
  stream text COLLATE "C" PRIMARY KEY,
  expires_at bigint NOT NULL
) WITH (fillfactor = 70);
CREATE UNLOGGED TABLE IF NOT EXISTS ${names.events} (
  stream text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (stream, position)
);
CREATE UNLOGGED TABLE IF NOT EXISTS ${names.calls} (
  key text COLLATE "C" PRIMARY KEY,
  parts bigint[] NOT NULL,
  counts bigint[] NOT NULL,
  expires_at bigint NOT NULL
) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE IF NOT EXISTS ${names.channel} (
  id integer PRIMARY KEY CHECK (id = 1),
  epoch text NOT NULL,
  last_id bigint NOT NULL,
  removed_id bigint NOT NULL
) WITH (fillfactor = 20);
CREATE UNLOGGED TABLE IF NOT EXISTS ${names.messages} (
  id bigint PRIMARY KEY,
  origin text COLLATE "C" NOT NULL,
  text text NOT NULL,
  sent_at bigint NOT NULL
);
`

/** The SQL of each version, the first one first. Each can be run again. */
const MIGRATIONS: ReadonlyArray<(names: SchemaNames) => string> = [
  (names) => `${toTables(names)}${toCreateRecords(names)}${toCountCalls(names)}`
]

/** The SQL that brings the schema from a version to that of this release. @param version 0 for none. */
export function toMigration (names: SchemaNames, version: number): string {
  return [
    version === 0 ? toCreateSchema(names) : '',
    ...MIGRATIONS.slice(version).map((toSql) => toSql(names)),
    `INSERT INTO ${names.versions} (version, oldest_user) VALUES (${SCHEMA_VERSION}, ${OLDEST_USER})`,
    'ON CONFLICT (version) DO NOTHING\n'
  ].join('\n')
}

/** Waits for others that make the schema. Statements of the service must not wait long for the operator. */
const toBegin = (names: SchemaNames) => `BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL client_min_messages = warning;
SET LOCAL lock_timeout = '2s';
DO $do$ BEGIN
  PERFORM pg_advisory_xact_lock(${toLock(names, 'migration')});
END $do$;
`

/**
 * The SQL of the whole schema, for operators: one transaction.
 *
 * @param role gets the rights that the service needs.
 */
export function toSchemaText (prefix: string, role?: string): string {
  const names = toNames(prefix)
  const sql = toMigration(names, 0).replace(/\n$/, ';\n')
  return `${toBegin(names)}${sql}${role === undefined ? '' : toGrants(names, role)}COMMIT;\n`
}

function toGrants ({ schema }: SchemaNames, role: string): string {
  const [quoted, user] = [quoteName(schema), quoteName(role)]
  return `GRANT USAGE ON SCHEMA ${quoted} TO ${user};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoted} TO ${user};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${quoted} TO ${user};
`
}
