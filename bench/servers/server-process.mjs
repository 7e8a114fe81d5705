// Starts a server in its own process, and asks the server for its CPU time and memory.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { legacyRequest } from '../requests/messages.mjs'
import { cpuMs, residentBytes } from './process-figures.mjs'
import { start, stopProcess, untilStarted } from './processes.mjs'

const PROBE = new URL('probe.mjs', import.meta.url).href

/**
 * Starts a Node server, and resolves when the server listens. The standard output of the server is dropped.
 *
 * @param {{ node?: string, file: string, env?: Record<string, string>, cwd?: string, path?: string }} options
 *   `node`: the Node that runs the server, by default the running Node; `path`: the path of the endpoint
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
    /** Starts to measure stalls and memory. `stopWatching` ends this, and adds both to the usage. */
    watch: () => ask('watch'),
    stopWatching: () => ask('stopWatching'),
    stop: () => stopProcess(child)
  }
}

/**
 * Starts a server that does not run on Node, and resolves when its endpoint gives any answer.
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

/** Sends a ping. A GET may open a stream that does not end. */
async function untilAnswering (url, signal) {
  const { headers, body } = legacyRequest('ping', {})
  while (!signal.aborted) {
    try {
      await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer()
      return
    } catch {
      await sleep(50)
    }
  }
}
