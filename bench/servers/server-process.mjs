// Starts a server as a process of its own, and asks what it has used.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs, residentBytes } from './process-figures.mjs'
import { start, stopProcess, untilStarted } from './processes.mjs'

const PROBE = new URL('probe.mjs', import.meta.url).href

/**
 * Starts a server of Node's, and resolves when it listens. What it writes to its standard output is dropped.
 *
 * @param {{ node?: string, file: string, env?: Record<string, string>, cwd?: string, path?: string }} options
 *   `node`: the Node to run it, ours by default; `path`: of the endpoint
 */
export async function startServer ({ node = process.execPath, file, env = {}, cwd, path = '/mcp' }) {
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = start(node, ['--import', PROBE, file], { env, cwd, stdio })
  const [{ listening }] = await untilStarted(child, file, (signal) => once(child, 'message', { signal }))
  const ask = async (question) => {
    const answered = new Promise((resolve) => {
      child.on('message', function read ({ usage }) {
        if (usage === undefined) return
        child.off('message', read)
        resolve(usage)
      })
    })
    child.send({ ask: question })
    return await answered
  }
  return {
    url: `http://127.0.0.1:${listening.port}${path}`,
    pid: child.pid,
    /** @returns {Promise<{ cpuMs: number, rssBytes: number }>} */
    usage: () => ask('usage'),
    /** From now on stalls and memory are watched, until `stopWatching`, which says both, too. */
    watch: () => ask('watch'),
    stopWatching: () => ask('stopWatching'),
    stop: () => stopProcess(child)
  }
}

/**
 * Starts any other server, and resolves when its endpoint answers at all.
 *
 * @param {{ command: string, args: string[], url: string, cwd?: string, env?: Record<string, string> }}
 *   options
 */
export async function startForeignServer ({ command, args, url, cwd, env = {} }) {
  const child = start(command, args, { env, cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  await untilStarted(child, command, (signal) => untilAnswering(url, signal))
  const usage = async () => ({ cpuMs: await cpuMs(child.pid), rssBytes: await residentBytes(child.pid) })
  return { url, pid: child.pid, usage, stop: () => stopProcess(child) }
}

async function untilAnswering (url, signal) {
  while (!signal.aborted) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await sleep(50)
    }
  }
}
