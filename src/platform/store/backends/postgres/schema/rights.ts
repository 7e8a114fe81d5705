// The rights that the service needs in its schema.

import { quoteText, readText, type AnswerRow } from '../statement.ts'
import type { SchemaNames } from './schema.ts'

const TABLE_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE']

/** Returns the role and a right for each one that it lacks. Fails if a table is missing. */
export function toFindMissingRights (names: SchemaNames): string {
  const { schema, versions, createRecords, countCalls, ...tables } = names
  const ofTable = (table: string, right: string) => toNeed('table', table, right)
  const needs = [
    ...Object.values(tables).flatMap((table) => TABLE_RIGHTS.map((right) => ofTable(table, right))),
    ofTable(versions, 'SELECT'),
    toNeed('function', 'pg_logical_emit_message(boolean,text,text)', 'EXECUTE')
  ]
  return `
    SELECT current_user, need FROM (VALUES ${needs.join(', ')}) AS needs(has, need) WHERE NOT has
    UNION ALL
    SELECT current_user, 'EXECUTE on ' || p.oid::regprocedure FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = ${quoteText(schema)} AND NOT has_function_privilege(p.oid, 'EXECUTE')
  `
}

function toNeed (kind: 'table' | 'function', name: string, right: string): string {
  const has = `has_${kind}_privilege(${quoteText(name)}, '${right}')`
  return `(${has}, ${quoteText(`${right} on ${name}`)})`
}

/** Says all that is missing: each round of granting rights takes an operator's time. */
export function describeMissingRights (
  rows: readonly AnswerRow[], { schema }: SchemaNames
): string | undefined {
  const [[role] = []] = rows
  if (role === undefined) return undefined
  return toLack(schema, readText(role), rows.map(([, need]) => readText(need)).join(', '))
}

export function toLack (schema: string, role: string, missing: string): string {
  return `the role ${role} lacks rights (${missing}). Run "npx trivet state schema ` +
    `--prefix ${schema} --role ${role}", and apply the SQL as the owner of the database`
}
