// The event log of many replicas, in unlogged tables: a crash of the server, or a failover, empties them.

import { clock } from '../../../../base/time.ts'
import { createLogRoom } from '../../../limits/log-room.ts'
import type { EventLog, EventLogLimits, LoggedEvent } from '../../changes/event-log.ts'
import { gatherInOrder, type Waiter } from './gather.ts'
import { throwPostgresError } from './postgres-error.ts'
import type { SchemaNames } from './schema/schema.ts'
import { NOW_MS, readNumber, readText, toStatement, type StatementRunner } from './statement.ts'

interface PostgresEventLogOptions extends EventLogLimits {
  readonly names: SchemaNames
}

/** How long an event may wait until it is appended, in milliseconds: as long as a statement. */
const APPEND_MS = 1400

interface Appended extends Waiter<void> { readonly stream: string, readonly event: LoggedEvent }

/** Each locks its streams before their events, and streams in their order: the sweep does too. */
function createStatements ({ streams, events }: SchemaNames) {
  return {
    /** Arrays of streams, positions and texts, the maximum number of events, lifetime. */
    append: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now),
      asked AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[]) AS a(stream, position, text)
      ),
      latest AS MATERIALIZED (
        SELECT stream, max(position) AS last FROM asked GROUP BY stream ORDER BY stream
      ),
      kept AS (
        INSERT INTO ${streams} (stream, expires_at) SELECT stream, now + $5::bigint FROM latest, clock
        ON CONFLICT (stream) DO UPDATE SET expires_at = excluded.expires_at
        RETURNING stream
      ),
      dropped AS (
        DELETE FROM ${events} AS e USING latest JOIN kept USING (stream)
        WHERE e.stream = latest.stream AND e.position <= latest.last - $4::bigint
      )
      INSERT INTO ${events} (stream, position, text)
      SELECT stream, position, text FROM asked JOIN latest USING (stream) JOIN kept USING (stream)
      WHERE position > last - $4::bigint
      ON CONFLICT (stream, position) DO NOTHING
    `),
    /** An array of streams. */
    remove: toStatement(`
      WITH locked AS MATERIALIZED (
        SELECT stream FROM ${streams} WHERE stream = ANY ($1::text[]) ORDER BY stream FOR UPDATE
      ),
      gone AS (DELETE FROM ${streams} AS s USING locked WHERE s.stream = locked.stream RETURNING s.stream)
      DELETE FROM ${events} AS e USING gone WHERE e.stream = gone.stream
    `),
    /** stream, position. Returns a row for each event, and one without an event if there is none. */
    read: toStatement(`
      SELECT e.position, e.text FROM ${streams} AS s
      LEFT JOIN ${events} AS e ON e.stream = s.stream AND e.position > $2
      WHERE s.stream = $1 AND s.expires_at > ${NOW_MS} ORDER BY e.position
    `)
  }
}

/** Closing the log does not close the connections. */
export function createPostgresEventLog (
  runner: StatementRunner, { names, maxEvents, ttlMs, maxBytes = 67_108_864 }: PostgresEventLogOptions
): EventLog {
  const statements = createStatements(names)
  // Counts the streams that this process writes. The sweep removes those that have expired.
  const room = createLogRoom({ maxEvents, ttlMs, maxBytes, now: clock.monotonic })

  // In order, so that the events of a stream keep their order.
  const ask = gatherInOrder<Appended>(async (all, waitedMs) => {
    await runner.run(statements.append, [
      all.map(({ stream }) => stream), all.map(({ event }) => event.position),
      all.map(({ event }) => event.text), maxEvents, ttlMs
    ], { waitedMs })
    for (const { resolve } of all) resolve()
  }, { deadlineMs: APPEND_MS, bytesOf: ({ event }) => event.text.length })

  return {
    async append (stream, event, holder) {
      const { excess } = room.add(stream, event.text.length, holder)
      await new Promise<void>((resolve, reject) => {
        ask({ stream, event, resolve, reject })
      }).catch(throwPostgresError)
      if (excess.length > 0) await runner.run(statements.remove, [excess]).catch(throwPostgresError)
    },
    async read (stream, after) {
      const rows = await runner.run(statements.read, [stream, after]).catch(throwPostgresError)
      if (rows.length === 0) return undefined
      return rows.flatMap(([position, text]) => (
        position === null ? [] : [{ position: readNumber(position), text: readText(text) }]
      ))
    },
    async close () {}
  }
}
