import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createPostgresDueTimes } from '../../../../src/store/backends/postgres/due-times.ts'
import type { DueTimes } from '../../../../src/store/records/due-times.ts'
import { checkDueTimes } from '../../../contracts/due-times-contract.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
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
      pass: async (ms) => { await pause(ms) },
      reopen: async () => await open(t, server.url, prefix)
    }
  })

  t.test('without PostgreSQL every method rejects with a StoreUnavailable', async (t) => {
    const own = await startPostgresServer(t)
    const dueTimes = await open(t, own.url, 'trivet')
    await own.kill()
    await t.rejects(dueTimes.set('a', 0, 0), { name: 'StoreUnavailable' })
    await t.rejects(dueTimes.remove('a'), { name: 'StoreUnavailable' })
    await t.rejects(dueTimes.take(1, 1000), { name: 'StoreUnavailable' })
    await t.rejects(dueTimes.peek(1, 0), { name: 'StoreUnavailable' })
    await t.rejects(dueTimes.list(undefined, 1), { name: 'StoreUnavailable' })
    await t.rejects(dueTimes.list('x', 1), { name: 'RangeError' })
  })
}
