// Due times in PostgreSQL: one table, by the clock of the server.

import { toTaken, type DueEntry, type DueTimes } from '../../records/due-times.ts'
import { throwAsUnavailable } from './postgres-error.ts'
import type { SchemaNames } from './schema.ts'
import {
  NOW_MS, readNumber, readText, toStatement, type AnswerRow, type StatementRunner
} from './statement.ts'

/** Begins the `next` of a page. The last entry of the page follows. */
const AFTER = 'after:'

function createStatements ({ dueTimes }: SchemaNames) {
  return {
    /**
     * entry, milliseconds from now, generation, milliseconds from now for an earlier generation. Returns the
     * time. Always writes, so that the caller waits until the later generation is durable.
     */
    set: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now)
      INSERT INTO ${dueTimes} AS d (entry, due_at, generation)
      SELECT $1, now + $2::bigint, $3::bigint FROM clock
      ON CONFLICT (entry) DO UPDATE SET
        due_at = CASE WHEN d.generation > excluded.generation
          THEN least(d.due_at, excluded.due_at - $2::bigint + $4::bigint) ELSE excluded.due_at END,
        generation = greatest(d.generation, excluded.generation)
      RETURNING (SELECT now FROM clock)
    `),
    /** entry. */
    remove: toStatement(`DELETE FROM ${dueTimes} WHERE entry = $1`),
    /**
     * The most entries, and after how many milliseconds each of them is due again. Returns the time, when the
     * next entry is due, and an array of the entries.
     */
    take: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now),
      due AS (
        SELECT entry, due_at FROM ${dueTimes} WHERE due_at <= (SELECT now FROM clock)
        ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
      ),
      held AS (
        UPDATE ${dueTimes} AS d SET due_at = now + $2::bigint FROM due, clock WHERE d.entry = due.entry
        RETURNING d.entry, due.due_at AS was, d.due_at
      )
      SELECT now, least(
        (SELECT due_at FROM ${dueTimes} WHERE entry NOT IN (SELECT entry FROM due) ORDER BY due_at LIMIT 1),
        (SELECT min(due_at) FROM held)
      ), (SELECT array_agg(entry ORDER BY was) FROM held) FROM clock
    `),
    /** The most entries, and in how many milliseconds they are due. Returns rows of an entry. */
    peek: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now)
      SELECT entry, due_at - now, generation FROM ${dueTimes}, clock
      WHERE due_at <= (SELECT now + $2::bigint FROM clock) ORDER BY due_at LIMIT $1
    `),
    /** The last entry of the page before, or null, and the most entries. Returns rows of an entry. */
    list: toStatement(`
      SELECT entry, due_at - ${NOW_MS}, generation FROM ${dueTimes}
      WHERE $1::text IS NULL OR entry > $1 ORDER BY entry LIMIT $2
    `)
  }
}

export function createPostgresDueTimes (runner: StatementRunner, names: SchemaNames): DueTimes {
  const statements = createStatements(names)
  const run = async (name: keyof typeof statements, ...values: unknown[]) => (
    await runner.run(statements[name], values).catch(throwAsUnavailable)
  )

  return {
    async set (entry, inMs, generation, lateMs = inMs) {
      const [[now] = []] = await run('set', entry, Math.ceil(inMs), generation, Math.ceil(lateMs))
      return readNumber(now)
    },
    async remove (entry) { await run('remove', entry) },
    async take (limit, holdMs) {
      const [[now, next, entries] = []] = await run('take', limit, Math.ceil(holdMs))
      const time = readNumber(now)
      const taken = Array.isArray(entries) ? entries.map(readText) : []
      return toTaken(taken, next === null ? undefined : readNumber(next), time)
    },
    peek: async (limit, withinMs) => (await run('peek', limit, Math.ceil(withinMs))).map(readEntry),
    async list (from, limit) {
      if (from?.startsWith(AFTER) === false) throw new RangeError('this cursor is of no page')
      const rows = await run('list', from?.slice(AFTER.length) ?? null, limit + 1)
      const entries = rows.slice(0, limit).map(readEntry)
      const last = entries.at(-1)
      return { entries, next: rows.length > limit && last !== undefined ? AFTER + last.entry : undefined }
    }
  }
}

function readEntry ([entry, inMs, generation]: AnswerRow): DueEntry {
  return { entry: readText(entry), inMs: readNumber(inMs), generation: readNumber(generation) }
}
