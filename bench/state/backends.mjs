// The backends that keep state: the name and the address of each, and the store of a build for an address.

import { importInner } from './inner-modules.mjs'
import { NO_REDIS, startRedis } from './redis.mjs'
import { workspacePath } from '../workspace.mjs'

/**
 * `addressOf` returns the address of a new store each time, except for Redis. `leftOut` has the reason for
 * each backend that is left out.
 */
export async function startBackends () {
  const redis = await startRedis()
  return {
    backends: [
      { name: 'memory', addressOf: () => 'memory:' },
      { name: 'lmdb', addressOf: () => `file:${workspacePath('state')}` },
      ...redis === undefined ? [] : [{ name: 'Redis', addressOf: () => redis.url }]
    ],
    leftOut: redis === undefined ? { Redis: NO_REDIS } : {},
    stop: async () => await redis?.stop()
  }
}

/** Opens a store in this process, as the service opens a store in its process. */
export async function openStore (main, address) {
  const { openBackend } = await importInner(main, 'store/backends/url-schemes')
  const { store, close } = await openBackend(address, { log: console, prefix: 'trivet' })
  return { ...store, close }
}
