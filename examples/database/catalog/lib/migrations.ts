// The tables, in the schema of the role that writes.

import type { Pool } from 'pg'

/** Each is applied once, in this order. Do not edit one that was released: append another. */
const MIGRATIONS = [
  'create table customers (id bigint generated always as identity primary key, name text not null)',
  "alter table customers add column city text not null default ''",
  'alter table customers add column version integer not null default 1'
]

/**
 * Brings the tables up to date. Any number of replicas may call it at once: one migrates, the others wait.
 * Requests of the release before run meanwhile: a migration must leave what that release reads.
 */
export async function migrate (pool: Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    // The wait for another replica, and a migration, take longer than a query may.
    await client.query("set local statement_timeout = '100s'")
    // The lock ends with the transaction, also if this process is killed.
    await client.query("select pg_advisory_xact_lock(hashtext('migrations of the customers'))")
    // A migration that waits for a long query keeps all later queries waiting. It fails instead.
    await client.query("set local lock_timeout = '5s'")
    await client.query('create table if not exists migrations (number integer primary key)')
    const { rows } = await client.query<{ number: number }>('select number from migrations')
    const applied = new Set(rows.map(({ number }) => number))
    for (const [number, statement] of MIGRATIONS.entries()) {
      if (applied.has(number)) continue
      await client.query(statement)
      await client.query('insert into migrations (number) values ($1)', [number])
    }
    await client.query('commit')
    client.release()
  } catch (error) {
    // The connection may be what failed. Its end undoes the transaction.
    client.release(true)
    throw error
  }
}
