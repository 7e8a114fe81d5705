// Where state is kept: each backend's name and address, and the build's own store for an address.

import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NO_REDIS, startRedis } from './redis.mjs'
import { workspacePath } from '../workspace.mjs'

/** `addressOf`: for a store of its own each time, but for Redis. `leftOut`: why, by name of the backend. */
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

/**
 * One part of the build that is measured.
 *
 * @param {string} main its entry
 * @param {string} path beside that
 */
export async function importBuilt (main, path) {
  return await import(pathToFileURL(join(dirname(main), path)))
}

/** Opens a store in this process, as the service would in its own. */
export async function openStore (main, address) {
  const { openBackend } = await importBuilt(main, 'backends/url-schemes.js')
  const { store, close } = await openBackend(address, { log: console, prefix: 'trivet' })
  return { ...store, close }
}
