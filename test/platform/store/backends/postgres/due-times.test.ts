import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createPostgresDueTimes } from '../../../../../src/platform/store/backends/postgres/due-times.ts'
import type { DueTimes } from '../../../../../src/platform/store/records/due-times.ts'
import { checkDueTimes, checkLostDueTimes } from '../../../../contracts/due-times-contract.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

async function open (t: Test, url: string, prefix: string): Promise<DueTimes> {
  const { pool, names } = await openPool(t, url, prefix)
  return createPostgresDueTimes(pool, names)
}

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  let prefixes = 0

  checkDueTimes(t, async (t) => {
    const prefix = `contract-${++prefixes}`
    return {
      dueTimes: await open(t, server.url, prefix),
      // A timer may be early by a part of a millisecond, and the server counts whole ones.
      pass: async (ms) => { await pause(ms + 2) },
      reopen: async () => await open(t, server.url, prefix)
    }
  })

  checkLostDueTimes(t, async (t) => {
    const own = await startPostgresServer(t)
    const dueTimes = await open(t, own.url, 'trivet')
    await own.kill()
    return dueTimes
  })
}
