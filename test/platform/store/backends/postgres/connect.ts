// The parts of the backend over a pool of their own, for tests.

import type { Test } from 'tap'
import { replaceTime } from '../../../../../src/base/time.ts'
import { readPostgresUrl } from '../../../../../src/platform/store/backends/postgres/connections/address.ts'
import {
  connect, createTarget, type PostgresTarget
} from '../../../../../src/platform/store/backends/postgres/connections/connection.ts'
import { prepareSchema } from '../../../../../src/platform/store/backends/postgres/schema/migrations.ts'
import { Pool } from '../../../../../src/platform/store/backends/postgres/connections/pool.ts'
import {
  toNames, type SchemaNames
} from '../../../../../src/platform/store/backends/postgres/schema/schema.ts'
import { openPostgresStateStore } from '../../../../../src/platform/store/backends/postgres/state-store.ts'
import type { StateStore } from '../../../../../src/platform/store/records/state-store.ts'

interface OpenedPool {
  readonly target: PostgresTarget
  readonly pool: Pool
  readonly names: SchemaNames
  readonly errors: Error[]
  readonly restrictions: string[]
}

export async function openPool (t: Test, url: string, prefix = 'trivet', size = 7): Promise<OpenedPool> {
  const names = toNames(prefix)
  const errors: Error[] = []
  const restrictions: string[] = []
  const target = createTarget(readPostgresUrl(url), undefined, (problem) => { restrictions.push(problem) })
  const first = await connect(target)
  await prepareSchema(first, names)
  await first.close()
  const pool = new Pool(target, { size, onError: (error) => { errors.push(error) } })
  t.teardown(async () => await pool.close())
  return { target, pool, names, errors, restrictions }
}

export async function openStore (t: Test, url: string, prefix?: string, size?: number): Promise<StateStore> {
  const { pool, names } = await openPool(t, url, prefix, size)
  const store = openPostgresStateStore(pool, names)
  t.teardown(async () => await store.close())
  return store
}

/** The times of the channel, in milliseconds. */
const POLLS_MS = [200, 5000]

/** Stops the polls of the channel until the test ends: they would hide that a wake-up was lost. */
export function stopPolls (t: Test): void {
  t.teardown(replaceTime({
    setTimeout: (callback, ms) => setTimeout(POLLS_MS.includes(ms) ? () => {} : callback, ms)
  }))
}
