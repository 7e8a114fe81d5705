// Removes what has expired: in small batches, and by one replica at a time.

import { random, timers, type Timer } from '../../../base/time.ts'
import { toLock, type SchemaNames } from './schema.ts'
import { NOW_MS, readNumber, toStatement, type Statement, type StatementRunner } from './statement.ts'

/** The longest time between two sweeps. Random, so that replicas do not meet. */
const SWEEP_MS = 30_000
const BATCH = 500
/** How long messages are kept for replicas that read late, in milliseconds. */
const KEEP_MESSAGES_MS = 60_000

interface SweepOptions {
  /** The longest time between two sweeps, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
  onError (error: unknown): void
}

/** Each statement returns how many rows it looked at. */
function createStatements (names: SchemaNames): readonly Statement[] {
  // A lock for each statement: of two replicas that sweep at once, one does nothing.
  const clock = `clock AS MATERIALIZED (
    SELECT ${NOW_MS} AS now WHERE pg_try_advisory_xact_lock(${toLock(names, 'sweep')})
  )`
  const expired = (table: string, key: string) => `
    WITH ${clock},
    due AS (
      SELECT ${key} FROM ${table} WHERE expires_at <= (SELECT now FROM clock) LIMIT ${BATCH}
      FOR UPDATE SKIP LOCKED
    ),
    gone AS (DELETE FROM ${table} AS t USING due WHERE t.${key} = due.${key} RETURNING t.${key})`
  return [
    toStatement(`
      WITH ${clock},
      due AS MATERIALIZED (
        SELECT owner, name, expires_at FROM ${names.records} WHERE sweep_at <= (SELECT now FROM clock)
        ORDER BY sweep_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
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
          ORDER BY id LIMIT ${BATCH}
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

export function createSweep (
  runner: StatementRunner, names: SchemaNames, { sweepMs = SWEEP_MS, onError }: SweepOptions
) {
  const statements = createStatements(names)
  let timer: Timer | undefined
  let running = Promise.resolve()
  let isClosed = false

  function schedule (): void {
    if (isClosed) return
    timer = timers.setTimeout(() => {
      running = sweep().catch(onError).finally(schedule)
    }, sweepMs * (1 - random.number() / 2)).unref()
  }

  /** Removes all that has expired. */
  async function sweep (): Promise<void> {
    for (const statement of statements) while (await removeSome(statement) === BATCH) if (isClosed) return
  }

  async function removeSome (statement: Statement): Promise<number> {
    const [[count] = []] = await runner.run(statement)
    return readNumber(count)
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
