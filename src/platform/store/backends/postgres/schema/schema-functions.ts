// The functions of the schema. Each takes a lock in one statement and looks in the next one: a statement sees
// what was committed before it began.

import { PARTS } from '../../../../limits/call-counter.ts'
import { toLock, type SchemaNames } from './schema.ts'
import { STANDBY_MARK, NOW_MS } from '../statement.ts'

export const NAME_TAKEN = -1
export const OWNER_FULL = -2
/** Another transaction holds an expired record of the name. */
export const NAME_HELD = -3

/**
 * Creates records of one owner, in their order. Each gets its expiry, NAME_TAKEN, OWNER_FULL or NAME_HELD. It
 * waits for no record: all others of the owner would wait too.
 */
export const toCreateRecords = (names: SchemaNames) => `
CREATE OR REPLACE FUNCTION ${names.createRecords} (
  the_owner text, the_names text[], the_values bytea[], the_versions text[], the_idle_ms bigint[],
  the_ends bigint[], the_limits bigint[]
) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $body$
DECLARE
  now_ms bigint;
  live bigint;
  is_live boolean;
  expiry bigint;
  answers bigint[] := '{}';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(the_owner, ${toLock(names, 'owner')}));
  now_ms := ${NOW_MS};
  live := (SELECT count(*) FROM (
    SELECT FROM ${names.records} WHERE owner = the_owner AND expires_at > now_ms
    LIMIT (SELECT max(l) FROM unnest(the_limits) AS l)
  ) AS counted);
  FOR at IN 1..cardinality(the_names) LOOP
    is_live := (
      SELECT expires_at > now_ms FROM ${names.records} WHERE owner = the_owner AND name = the_names[at]
    );
    IF NOT is_live THEN
      PERFORM FROM ${names.records} WHERE owner = the_owner AND name = the_names[at] AND expires_at <= now_ms
      FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF is_live THEN
      expiry := ${NAME_TAKEN};
      PERFORM ${STANDBY_MARK};
    ELSIF live >= the_limits[at] THEN
      expiry := ${OWNER_FULL};
    ELSIF NOT is_live AND NOT FOUND THEN
      expiry := ${NAME_HELD};
    ELSE
      live := live + 1;
      expiry := least(now_ms + the_idle_ms[at] + least(the_idle_ms[at] / 100, 60000), the_ends[at]);
      INSERT INTO ${names.records} (owner, name, value, version, idle_ms, ends_at, expires_at, sweep_at)
      VALUES (the_owner, the_names[at], the_values[at], the_versions[at], the_idle_ms[at], the_ends[at],
        expiry, expiry)
      ON CONFLICT (owner, name) DO UPDATE SET
        value = excluded.value, version = excluded.version, idle_ms = excluded.idle_ms,
        ends_at = excluded.ends_at, expires_at = excluded.expires_at, sweep_at = excluded.sweep_at;
    END IF;
    answers := answers || expiry;
  END LOOP;
  RETURN answers;
END
$body$;
`

/**
 * Counts calls, each for all of its rates or for none. Each array has an element for each rate of each call;
 * \`the_calls\` has the number of the call, from 1, in ascending order. Returns for each call that was not
 * counted the place of the rate with the longest wait, and the wait in milliseconds. Keys are locked in their
 * order, so that replicas do not wait for each other in a circle.
 */
export const toCountCalls = (names: SchemaNames) => `
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
