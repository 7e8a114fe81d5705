// Removes what has expired: in small batches, and by one replica at a time.

import { clock, random, timers, type Timer } from '../../../../base/time.ts'
import { hasCode } from './postgres-error.ts'
import { toLock, type SchemaNames } from './schema/schema.ts'
import { NOW_MS, readNumber, toStatement, type Statement, type StatementRunner } from './statement.ts'

/** The longest time between two sweeps. Random, so that replicas do not meet. */
const SWEEP_MS = 30_000
/** The most rows of a statement. */
const BATCH = 500
/** A batch that takes less time, in milliseconds, may grow. */
const QUICK_MS = 300
/** How long messages are kept for replicas that read late, in milliseconds. */
const KEEP_MESSAGES_MS = 60_000
/** The server ends a statement that exceeds its time, before this service gives it up. */
const STATEMENT_TIMEOUT = '57014'

interface SweepOptions {
  /** The longest time between two sweeps, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
  onError (error: unknown): void
}

/** Each statement takes the most rows that it looks at, and returns how many it looked at. */
function createStatements (names: SchemaNames): readonly Statement[] {
  // A lock for each statement: of two replicas that sweep at once, one does nothing.
  const clock = `clock AS MATERIALIZED (
    SELECT ${NOW_MS} AS now WHERE pg_try_advisory_xact_lock(${toLock(names, 'sweep')})
  )`
  const expired = (table: string, key: string) => `
    WITH ${clock},
    due AS (
      SELECT ${key} FROM ${table} WHERE expires_at <= (SELECT now FROM clock) LIMIT $1::bigint
      FOR UPDATE SKIP LOCKED
    ),
    gone AS (DELETE FROM ${table} AS t USING due WHERE t.${key} = due.${key} RETURNING t.${key})`
  return [
    toStatement(`
      WITH ${clock},
      due AS MATERIALIZED (
        SELECT owner, name, expires_at FROM ${names.records} WHERE sweep_at <= (SELECT now FROM clock)
        ORDER BY sweep_at LIMIT $1::bigint FOR UPDATE SKIP LOCKED
      ),
      gone AS (
        DELETE FROM ${names.records} AS r USING due, clock
        WHERE r.owner = due.owner AND r.name = due.name AND due.expires_at <= now
      ),
      used AS (
        UPDATE ${names.records} AS r SET sweep_at = due.expires_at FROM due, clock
        WHERE r.owner = due.owner AND r.name = due.name AND due.expires_at > now
      )
      SELECT count(*) FROM due
    `),
    toStatement(`
      ${expired(names.streams, 'stream')},
      texts AS (DELETE FROM ${names.events} AS e USING gone WHERE e.stream = gone.stream)
      SELECT count(*) FROM gone
    `),
    toStatement(`${expired(names.calls, 'key')} SELECT count(*) FROM gone`),
    toStatement(`
      WITH ${clock},
      gone AS (
        DELETE FROM ${names.messages} WHERE id IN (
          SELECT id FROM ${names.messages} WHERE sent_at <= (SELECT now FROM clock) - ${KEEP_MESSAGES_MS}
          ORDER BY id LIMIT $1::bigint
        ) RETURNING id
      ),
      noted AS (
        UPDATE ${names.channel} SET removed_id = greatest(removed_id, (SELECT max(id) FROM gone))
        WHERE EXISTS (SELECT FROM gone)
      )
      SELECT count(*) FROM gone
    `)
  ]
}

/** Large rows take long: a batch that exceeds its time is tried with half of the rows. */
function createRemoval (runner: StatementRunner, statement: Statement) {
  let size = BATCH

  return {
    /** Resolves to whether there may be more. */
    async removeSome (): Promise<boolean> {
      const begunAt = clock.monotonic()
      const batch = size
      try {
        const [[count] = []] = await runner.run(statement, [batch])
        if (clock.monotonic() - begunAt < QUICK_MS) size = Math.min(BATCH, size * 2)
        return readNumber(count) === batch
      } catch (error) {
        if (batch === 1 || !hasCode(error, STATEMENT_TIMEOUT)) throw error
        size = Math.ceil(batch / 2)
        return true
      }
    }
  }
}

export function createSweep (
  runner: StatementRunner, names: SchemaNames, { sweepMs = SWEEP_MS, onError }: SweepOptions
) {
  const removals = createStatements(names).map((statement) => createRemoval(runner, statement))
  let timer: Timer | undefined
  let running = Promise.resolve()
  let isClosed = false

  function schedule (): void {
    if (isClosed) return
    timer = timers.setTimeout(() => {
      running = sweep().finally(schedule)
    }, sweepMs * (1 - random.number() / 2)).unref()
  }

  /** Removes all that has expired. Never rejects: one table that cannot be swept does not stop the others. */
  async function sweep (): Promise<void> {
    for (const removal of removals) {
      try {
        while (await removal.removeSome()) if (isClosed) return
      } catch (error) {
        onError(error)
      }
    }
  }

  schedule()
  return {
    sweep,
    async close (): Promise<void> {
      isClosed = true
      timers.clear(timer)
      await running
    }
  }
}
