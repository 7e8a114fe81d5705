// Controls driver.mjs, a process that runs a server with its load.

import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { start, stopProcess, untilStarted } from './processes.mjs'

const DRIVER = fileURLToPath(new URL('driver.mjs', import.meta.url))

/**
 * @param {{ node: string, file: string, env: Record<string, string>, cwd?: string }} server options of
 *   `startServer`
 * @param {{ toolCount: number, ids: string }} load
 * @returns {Promise<object>} `prepare` makes requests of a method under a key, and warms up. `measure` sends
 *   a batch of these requests, and resolves with the CPU time of one request, in microseconds
 */
export async function startDriven ({ node, file, env, cwd }, load) {
  const drive = JSON.stringify({ ...load, file: pathToFileURL(file).href })
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = start(node, [DRIVER], { cwd, stdio, env: { ...env, BENCH_DRIVE: drive } })
  await untilStarted(child, file, (signal) => once(child, 'message', { signal }))
  const tell = async (message) => {
    const over = new AbortController()
    const { signal } = over
    const ended = once(child, 'exit', { signal }).then(() => { throw new Error(`${file} has ended`) })
    ended.catch(() => {})
    child.send(message)
    try {
      return (await Promise.race([once(child, 'message', { signal }), ended]))[0].cpuUs
    } finally {
      over.abort()
    }
  }
  return {
    prepare: (key, method, isLegacy = false) => tell({ prepare: { key, method, isLegacy } }),
    measure: (key) => tell({ measure: key }),
    stop: () => stopProcess(child)
  }
}
