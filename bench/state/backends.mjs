// The backends that keep state: the name and the address of each, and the store of a build for an address.

import { importInner } from './inner-modules.mjs'
import { NO_POSTGRES, startPostgres } from './postgres.mjs'
import { NO_REDIS, startRedis } from './redis.mjs'
import { workspacePath } from '../workspace.mjs'

/** The stores that replicas can share, each with how its server is started. */
export const SHARED = [
  { name: 'Redis', start: startRedis, absence: NO_REDIS },
  { name: 'PostgreSQL', start: startPostgres, absence: NO_POSTGRES }
]

/**
 * `addressOf` returns the address of a new store each time, except for shared ones. `leftOut` has the reason
 * for each backend that is left out.
 */
export async function startBackends () {
  const shared = []
  for (const { name, start, absence } of SHARED) shared.push({ name, absence, server: await start() })
  const started = shared.filter(({ server }) => server !== undefined)
  const missing = shared.filter(({ server }) => server === undefined)
  return {
    backends: [
      { name: 'memory', addressOf: () => 'memory:' },
      { name: 'lmdb', addressOf: () => `file:${workspacePath('state')}` },
      ...started.map(({ name, server }) => ({ name, addressOf: () => server.url }))
    ],
    leftOut: Object.fromEntries(missing.map(({ name, absence }) => [name, absence])),
    stop: async () => { for (const { server } of started) await server.stop() }
  }
}

/** Opens a store in this process, as the service opens a store in its process. */
export async function openStore (main, address) {
  const { openBackend } = await importInner(main, 'platform/store/backends/url-schemes')
  const { store, close } = await openBackend(address, { log: console, prefix: 'trivet' })
  return { ...store, close }
}
