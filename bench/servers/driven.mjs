// The other side of driver.mjs: starts a server with its load in one process, and waits for the figures.

import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { start, stopProcess } from './processes.mjs'

const DRIVER = fileURLToPath(new URL('driver.mjs', import.meta.url))

/**
 * @param {{ node: string, file: string, env: Record<string, string>, cwd?: string }} server as `startServer`
 *   takes it
 * @param {{ methods: string[], toolCount: number, ids: string, batches: number }} load
 * @returns {Promise<Record<string, number[]>>} by method, the CPU time of one request, in microseconds, for
 *   each batch
 */
export async function driveServer ({ node, file, env, cwd }, load) {
  const drive = JSON.stringify({ ...load, file: pathToFileURL(file).href })
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = start(node, [DRIVER], { cwd, stdio, env: { ...env, BENCH_DRIVE: drive } })
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${file} ended with code ${code}`)
  })
  try {
    const [{ figures }] = await Promise.race([once(child, 'message', { signal }), ended])
    return figures
  } finally {
    ended.catch(() => {})
    over.abort()
    await stopProcess(child)
  }
}
