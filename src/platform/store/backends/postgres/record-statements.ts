// The statements of the store of records. Each operation is one of them.

import { toFindMissingRights } from './schema/rights.ts'
import type { SchemaNames } from './schema/schema.ts'
import { STANDBY_MARK, NOW_MS, toStatement } from './statement.ts'

/**
 * A use writes only if less than the idle lifetime is left. Each write adds a hundredth of the idle lifetime,
 * at most a minute, so a use soon after another one writes nothing.
 */
const toExpiry = (idle: string, end: string, now = NOW_MS) =>
  `least(${now} + ${idle} + least(${idle} / 100, 60000), ${end})`
const needsExtension = (now: string) => `r.expires_at < least(${now} + r.idle_ms, r.ends_at)`

export type RecordStatements = ReturnType<typeof createRecordStatements>

export function createRecordStatements (names: SchemaNames) {
  const { records } = names
  return {
    /** owner, name, value, version, idle lifetime, end or null, limit. Returns what `createMany` returns. */
    create: toStatement(`
      SELECT unnest(${names.createRecords}(
        $1, ARRAY[$2], ARRAY[$3::bytea], ARRAY[$4], ARRAY[$5::bigint], ARRAY[$6::bigint], ARRAY[$7::bigint]
      ))
    `),
    /** owner, arrays of the same. Returns a row for each: its expiry, or a refusal. */
    createMany: toStatement(`SELECT unnest(${names.createRecords}($1, $2, $3, $4, $5, $6, $7))`),
    /**
     * Arrays of owners and names without repetitions. Returns the place of each live record in them, from 1,
     * its value, version and expiry, whether this use must extend its lifetime, and whether little is left
     * of it. It locks nothing: `extend` writes.
     */
    read: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now)
      SELECT asked.place, r.value, r.version, r.expires_at, ${needsExtension('now')},
        r.expires_at - now < r.idle_ms / 10
      FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(owner, name, place)
      JOIN ${records} AS r USING (owner, name), clock
      WHERE r.expires_at > now
    `),
    /**
     * Arrays of owners and names. Returns the places, from 1, of the records that it extended, and their
     * expiries. It leaves out a record that another transaction holds: a wait would delay all others.
     */
    extend: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now),
      asked AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a(owner, name, place)
      ),
      due AS (
        SELECT r.owner, r.name FROM asked JOIN ${records} AS r USING (owner, name), clock
        WHERE r.expires_at > now AND ${needsExtension('now')}
        FOR NO KEY UPDATE OF r SKIP LOCKED
      ),
      used AS (
        UPDATE ${records} AS r SET expires_at = ${toExpiry('r.idle_ms', 'r.ends_at', 'now')}
        FROM due, clock WHERE r.owner = due.owner AND r.name = due.name
        RETURNING r.owner, r.name, r.expires_at
      )
      SELECT asked.place, used.expires_at FROM asked JOIN used USING (owner, name)
    `),
    /** owner, name. Returns the first columns of `read`. */
    peek: toStatement(`
      SELECT 1, r.value, r.version, r.expires_at FROM ${records} AS r
      WHERE r.owner = $1 AND r.name = $2 AND r.expires_at > ${NOW_MS}
    `),
    /**
     * owner, name, version, value, next version, and for a new lifetime its idle lifetime, or null, and its
     * end, or null. Returns the expiry, or null, and whether the record may have the version and another
     * transaction holds it: a wait would take a connection.
     */
    replace: toStatement(`
      WITH present AS MATERIALIZED (
        SELECT FROM ${records}
        WHERE owner = $1 AND name = $2 AND version = $3 AND expires_at > ${NOW_MS}
      ),
      locked AS MATERIALIZED (
        SELECT owner, name FROM ${records}
        WHERE owner = $1 AND name = $2 AND version = $3 AND expires_at > ${NOW_MS}
        FOR NO KEY UPDATE SKIP LOCKED
      ),
      replaced AS (
        UPDATE ${records} AS r SET
          value = $4, version = $5, idle_ms = coalesce($6::bigint, r.idle_ms),
          ends_at = CASE WHEN $6 IS NULL THEN r.ends_at ELSE $7::bigint END,
          expires_at = CASE WHEN $6 IS NOT NULL THEN ${toExpiry('$6', '$7')}
            WHEN ${needsExtension(NOW_MS)} THEN ${toExpiry('r.idle_ms', 'r.ends_at')} ELSE r.expires_at END,
          sweep_at = CASE WHEN $6 IS NULL THEN r.sweep_at ELSE least(r.sweep_at, ${NOW_MS} + $6, $7) END
        FROM locked WHERE r.owner = locked.owner AND r.name = locked.name
        RETURNING r.expires_at
      )
      SELECT (SELECT expires_at FROM replaced),
        EXISTS (SELECT FROM present) AND NOT EXISTS (SELECT FROM replaced),
        CASE WHEN NOT EXISTS (SELECT FROM replaced) THEN ${STANDBY_MARK} END
    `),
    /**
     * Arrays of the same, without repetitions of a record. Returns the places, from 1, of the records that
     * have the version, and their expiries: null if another transaction holds the record. A wait for one
     * record would delay all others.
     */
    replaceMany: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now),
      asked AS MATERIALIZED (
        SELECT * FROM unnest(
          $1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::bigint[]
        ) WITH ORDINALITY AS a(owner, name, version, value, next, idle, ending, place)
      ),
      present AS MATERIALIZED (
        SELECT a.place FROM asked AS a JOIN ${records} AS r USING (owner, name), clock
        WHERE r.version = a.version AND r.expires_at > now
      ),
      locked AS MATERIALIZED (
        SELECT r.owner, r.name FROM asked AS a JOIN ${records} AS r USING (owner, name), clock
        WHERE r.version = a.version AND r.expires_at > now
        FOR NO KEY UPDATE OF r SKIP LOCKED
      ),
      replaced AS (
        UPDATE ${records} AS r SET
          value = a.value, version = a.next, idle_ms = coalesce(a.idle, r.idle_ms),
          ends_at = CASE WHEN a.idle IS NULL THEN r.ends_at ELSE a.ending END,
          expires_at = CASE WHEN a.idle IS NOT NULL THEN ${toExpiry('a.idle', 'a.ending', 'now')}
            WHEN ${needsExtension('now')} THEN ${toExpiry('r.idle_ms', 'r.ends_at', 'now')}
            ELSE r.expires_at END,
          sweep_at = CASE WHEN a.idle IS NULL THEN r.sweep_at
            ELSE least(r.sweep_at, now + a.idle, a.ending) END
        FROM asked AS a JOIN locked USING (owner, name), clock
        WHERE r.owner = a.owner AND r.name = a.name
        RETURNING a.place, r.expires_at
      )
      SELECT place, replaced.expires_at FROM present LEFT JOIN replaced USING (place)
      UNION ALL
      SELECT NULL, NULL FROM (
        SELECT CASE WHEN (SELECT count(*) FROM present) < cardinality($1::text[])
          THEN ${STANDBY_MARK} END AS mark
      ) AS marks WHERE mark IS NOT NULL
    `),
    /** owner, name, version. Returns whether the record has it. */
    confirm: toStatement(`
      SELECT EXISTS (
        SELECT FROM ${records} WHERE owner = $1 AND name = $2 AND version = $3 AND expires_at > ${NOW_MS}
      ), ${STANDBY_MARK}
    `),
    /** owner, name. Returns whether the record was live. */
    delete: toStatement(`
      WITH deleted AS (
        DELETE FROM ${records} WHERE owner = $1 AND name = $2 RETURNING expires_at > ${NOW_MS} AS live
      ),
      answer AS MATERIALIZED (SELECT coalesce((SELECT live FROM deleted), false) AS live)
      SELECT live, CASE WHEN NOT live THEN ${STANDBY_MARK} END FROM answer
    `),
    /** owner. Returns names and expiries. */
    list: toStatement(`
      SELECT name, expires_at FROM ${records} WHERE owner = $1 AND expires_at > ${NOW_MS}
    `),
    /** Returns the role and a right for each one that it lacks. */
    findMissingRights: toStatement(toFindMissingRights(names))
  }
}
