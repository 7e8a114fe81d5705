// Due times in PostgreSQL: one table, by the clock of the server.

import { readAfter, toDuePage, toTaken, type DueEntry, type DueTimes } from '../../records/due-times.ts'
import { gatherTurns, type Waiter } from './gather.ts'
import { throwAsUnavailable } from './postgres-error.ts'
import type { SchemaNames } from './schema/schema.ts'
import {
  NOW_MS, readNumber, readText, toStatement, type AnswerRow, type StatementRunner
} from './statement.ts'

interface DueChange extends Waiter<number> {
  readonly entry: string
  readonly inMs: number
  readonly generation: number
  readonly lateMs: number
}

function createStatements ({ dueTimes }: SchemaNames) {
  return {
    /**
     * Arrays of entries without repetitions, of milliseconds from now, of generations, and of milliseconds
     * from now for an earlier generation. Returns rows with the time. Always writes, so that the caller
     * waits until the later generation is durable. In the order of entries, so that replicas do not wait for
     * each other in a circle.
     */
    set: toStatement(`
      WITH clock AS MATERIALIZED (SELECT ${NOW_MS} AS now),
      asked AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
          AS a(entry, due_in, generation, late_in) ORDER BY entry COLLATE "C"
      )
      INSERT INTO ${dueTimes} AS d (entry, due_at, generation)
      SELECT entry, now + due_in, generation FROM asked, clock
      ON CONFLICT (entry) DO UPDATE SET
        due_at = CASE WHEN d.generation > excluded.generation
          THEN least(d.due_at, (SELECT now + late_in FROM asked, clock WHERE entry = excluded.entry))
          ELSE excluded.due_at END,
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
    /** The last entry of the page before, or an empty text, and the most entries. Returns rows. */
    list: toStatement(`
      SELECT entry, due_at - ${NOW_MS}, generation FROM ${dueTimes}
      WHERE entry > $1 ORDER BY entry LIMIT $2
    `)
  }
}

export function createPostgresDueTimes (runner: StatementRunner, names: SchemaNames): DueTimes {
  const statements = createStatements(names)
  const run = async (name: keyof typeof statements, ...values: unknown[]) => (
    await runner.run(statements[name], values).catch(throwAsUnavailable)
  )

  // The changes of one turn of the event loop share a statement and its commit.
  const ask = gatherTurns<DueChange>((all) => {
    const remaining = new Set(all)
    while (remaining.size > 0) {
      // A statement cannot change a row twice.
      const batch = new Map<string, DueChange>()
      for (const change of remaining) if (!batch.has(change.entry)) batch.set(change.entry, change)
      for (const change of batch.values()) remaining.delete(change)
      setMany([...batch.values()])
    }
  })

  function setMany (batch: readonly DueChange[]): void {
    const setting = run(
      'set', batch.map(({ entry }) => entry), batch.map(({ inMs }) => Math.ceil(inMs)),
      batch.map(({ generation }) => generation), batch.map(({ lateMs }) => Math.ceil(lateMs))
    )
    setting.then(([row]) => {
      for (const { resolve } of batch) resolve(readNumber(row?.[0]))
    }).catch((error: unknown) => { for (const { reject } of batch) reject(error) })
  }

  return {
    set: async (entry, inMs, generation, lateMs = inMs) => await new Promise((resolve, reject) => {
      ask({ entry, inMs, generation, lateMs, resolve, reject })
    }),
    async remove (entry) { await run('remove', entry) },
    async take (limit, holdMs) {
      const [[now, next, entries] = []] = await run('take', limit, Math.ceil(holdMs))
      const time = readNumber(now)
      const names = Array.isArray(entries) ? entries.map(readText) : []
      return toTaken(names, next === null ? undefined : readNumber(next), time)
    },
    peek: async (limit, withinMs) => (await run('peek', limit, Math.ceil(withinMs))).map(readEntry),
    async list (from, limit) {
      const rows = await run('list', readAfter(from), limit + 1)
      return toDuePage(rows.map(readEntry), limit)
    }
  }
}

function readEntry ([entry, inMs, generation]: AnswerRow): DueEntry {
  return { entry: readText(entry), inMs: readNumber(inMs), generation: readNumber(generation) }
}
