// The schema of one prefix: its tables, its functions and its versions.

import { PARTS } from '../../../limits/call-counter.ts'
import { STANDBY_MARK, NOW_MS, quoteName, quoteText } from './statement.ts'

/**
 * The version of the schema that this release makes. Each change of the schema is a new entry of MIGRATIONS.
 * Older releases run beside newer ones during a deploy: a migration adds tables, columns with a default, and
 * functions under new names. What older releases use is removed by a later release.
 */
export const SCHEMA_VERSION = 1
/** The oldest release, by its SCHEMA_VERSION, that may use a schema of this version. */
const OLDEST_USER = 1

export const IS_TAKEN = -1
export const IS_FULL = -2

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
  readonly createRecord: string
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
    createRecord: name('create_record_1'),
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
export function toFunctions ({ createRecord, countCalls }: SchemaNames): readonly string[] {
  return [
    `${createRecord}(text, text, bytea, text, bigint, bigint, bigint)`,
    `${countCalls}(integer[], text[], bigint[], double precision[])`
  ]
}

/** The number of a lock of the whole schema, as an expression. */
export function toLock ({ schema }: SchemaNames, purpose: string): string {
  return `hashtextextended(${quoteText(`trivet ${purpose} ${schema}`)}, 0)`
}

/** @param found NULL if the SQL is to be run. */
const toRunUnless = (found: string, sql: string) => `DO $do$ BEGIN
  IF ${found} IS NULL THEN
    ${sql};
  END IF;
END $do$;`

/** CREATE INDEX waits for all that write the table, and they wait for it, even if the index exists. */
function toIndex ({ schema }: SchemaNames, index: string, columns: string): string {
  const found = `to_regclass(${quoteText(`${quoteName(schema)}.${index}`)})`
  return toRunUnless(found, `CREATE INDEX ${index} ON ${columns}`)
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

/**
 * Returns the expiry, IS_TAKEN or IS_FULL. A function, because each of its statements sees what was committed
 * before it began: the count sees all records that were created before the lock was taken.
 */
const toCreateRecord = (names: SchemaNames) => `
CREATE OR REPLACE FUNCTION ${names.createRecord} (
  the_owner text, the_name text, the_value bytea, the_version text, the_idle_ms bigint, the_end bigint,
  the_limit bigint
) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  now_ms bigint;
  expiry bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(the_owner, ${toLock(names, 'owner')}));
  now_ms := ${NOW_MS};
  IF EXISTS (
    SELECT FROM ${names.records} WHERE owner = the_owner AND name = the_name AND expires_at > now_ms
  ) THEN
    PERFORM ${STANDBY_MARK};
    RETURN ${IS_TAKEN};
  END IF;
  IF (SELECT count(*) FROM (
    SELECT FROM ${names.records} WHERE owner = the_owner AND expires_at > now_ms LIMIT the_limit
  ) AS live) >= the_limit THEN
    RETURN ${IS_FULL};
  END IF;
  expiry := least(now_ms + the_idle_ms + least(the_idle_ms / 100, 60000), the_end);
  INSERT INTO ${names.records} (owner, name, value, version, idle_ms, ends_at, expires_at, sweep_at)
  VALUES (the_owner, the_name, the_value, the_version, the_idle_ms, the_end, expiry, expiry)
  ON CONFLICT (owner, name) DO UPDATE SET
    value = excluded.value, version = excluded.version, idle_ms = excluded.idle_ms,
    ends_at = excluded.ends_at, expires_at = excluded.expires_at, sweep_at = excluded.sweep_at;
  RETURN expiry;
END
$body$;
`

/**
 * Counts calls, each for all of its rates or for none. Each array has an element for each rate of each call;
 * \`the_calls\` has the number of the call, from 1, in ascending order. Returns for each call that was not
 * counted the place of the rate with the longest wait, and the wait in milliseconds. Keys are locked in their
 * order, so that replicas do not wait for each other in a circle.
 */
const toCountCalls = (names: SchemaNames) => `
CREATE OR REPLACE FUNCTION ${names.countCalls} (
  the_calls integer[], the_keys text[], the_limits bigint[], the_part_ms double precision[]
) RETURNS TABLE (call integer, place integer, wait_ms double precision) LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  first integer := 1;
  last integer;
  locked bigint;
  now_ms double precision;
  stored record;
  total bigint;
  wait double precision;
  current bigint;
BEGIN
  LOOP
    -- A call that is not counted leaves its new keys: they expire too.
    INSERT INTO ${names.calls} AS c (key, parts, counts, expires_at)
    SELECT k, '{}'::bigint[], '{}'::bigint[], ${NOW_MS} + ceil(max(part_ms) * ${PARTS + 1})
    FROM unnest(the_keys, the_part_ms) AS u(k, part_ms)
    WHERE NOT EXISTS (SELECT FROM ${names.calls} AS e WHERE e.key = k)
    GROUP BY k ORDER BY k ON CONFLICT (key) DO NOTHING;
    PERFORM FROM ${names.calls} AS c WHERE c.key = ANY (the_keys) ORDER BY c.key FOR NO KEY UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    -- A key that had expired may have been removed in between.
    EXIT WHEN locked = (SELECT count(DISTINCT k) FROM unnest(the_keys) AS k);
  END LOOP;
  now_ms := date_part('epoch', clock_timestamp()) * 1000;
  WHILE first <= cardinality(the_calls) LOOP
    last := first;
    WHILE the_calls[last + 1] = the_calls[first] LOOP last := last + 1; END LOOP;
    call := the_calls[first];
    place := NULL;
    wait_ms := 0;
    FOR at IN first..last LOOP
      SELECT c.parts, c.counts INTO stored FROM ${names.calls} AS c WHERE c.key = the_keys[at];
      total := 0;
      FOR i IN 1..cardinality(stored.parts) LOOP
        IF stored.parts[i] >= floor(now_ms / the_part_ms[at]) - ${PARTS} THEN
          total := total + stored.counts[i];
        END IF;
      END LOOP;
      wait := 0;
      FOR i IN 1..cardinality(stored.parts) LOOP
        CONTINUE WHEN stored.parts[i] < floor(now_ms / the_part_ms[at]) - ${PARTS};
        EXIT WHEN total < the_limits[at];
        total := total - stored.counts[i];
        IF total < the_limits[at] THEN
          wait := (stored.parts[i] + ${PARTS + 1}) * the_part_ms[at] - now_ms;
        END IF;
      END LOOP;
      IF wait > wait_ms THEN
        wait_ms := wait;
        place := at - first;
      END IF;
    END LOOP;
    IF place IS NOT NULL THEN
      RETURN NEXT;
    ELSE
      FOR at IN first..last LOOP
        current := floor(now_ms / the_part_ms[at]);
        UPDATE ${names.calls} AS c SET
          parts = CASE WHEN c.parts[cardinality(c.parts)] = current THEN c.parts
            ELSE (SELECT coalesce(array_agg(p ORDER BY p), '{}') FROM unnest(c.parts) AS p
              WHERE p >= current - ${PARTS}) || current END,
          counts = CASE WHEN c.parts[cardinality(c.parts)] = current
            THEN c.counts[:cardinality(c.counts) - 1] || c.counts[cardinality(c.counts)] + 1
            ELSE (SELECT coalesce(array_agg(n ORDER BY p), '{}') FROM unnest(c.parts, c.counts) AS u(p, n)
              WHERE p >= current - ${PARTS}) || 1::bigint END,
          expires_at = ceil(now_ms + the_part_ms[at] * ${PARTS + 1})
        WHERE c.key = the_keys[at];
      END LOOP;
    END IF;
    first := last + 1;
  END LOOP;
END
$body$;
`

/** The SQL of each version, the first one first. Each can be run again. */
const MIGRATIONS: ReadonlyArray<(names: SchemaNames) => string> = [
  (names) => `${toTables(names)}${toCreateRecord(names)}${toCountCalls(names)}`
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
