// The SQL of the schema, for operators.

import { toLock, toMigration, toNames, type SchemaNames } from './schema.ts'
import { quoteName } from './statement.ts'

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
