import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { checkStateStore } from '../../../contracts/state-store-contract.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import { openStore } from './connect.ts'

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  let prefixes = 0

  checkStateStore(t, async (t) => {
    const prefix = `contract-${++prefixes}`
    return {
      store: await openStore(t, server.url, prefix),
      now: Date.now,
      advance: async (ms) => { await pause(ms) },
      reopen: async () => await openStore(t, server.url, prefix)
    }
  }, { unitMs: 150, toleranceMs: 200 })
}
