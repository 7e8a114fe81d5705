// A store over a connection of its own, and operations on one record, for tests.

import type { Test } from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { openRedisStateStore } from '../../../../../src/platform/store/backends/redis/state-store.ts'
import type { StateKey, StateStore } from '../../../../../src/platform/store/records/state-store.ts'
import type { RedisServer } from '../../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'

export const KEY: StateKey = { owner: 'o', name: 'counter' }
export const LIFETIME = { idleMs: 600_000 }
/** A call that takes longer counts as hanging, in milliseconds. */
export const QUICK_MS = 2500

export async function connect (t: Test, url: string): Promise<StateStore> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const store = openRedisStateStore(redis.commands, { prefix: 'trivet' })
  t.teardown(async () => await store.close())
  return store
}

/** The number of changes that a server has made. */
export async function countChanges (server: RedisServer): Promise<string | undefined> {
  return /rdb_changes_since_last_save:(\d+)/.exec(await server.cli('info', 'persistence'))?.[1]
}

export const unavailable = (message: RegExp) => ({ name: 'StoreUnavailable', cause: { message } })

export async function increment (store: StateStore): Promise<void> {
  for (;;) {
    const record = await store.read(KEY)
    if (record === undefined) throw new Error('the record is gone')
    const next = toValue(String(Number(textOf(record)) + 1))
    if (await store.replace(KEY, record.version, next) !== undefined) return
  }
}
