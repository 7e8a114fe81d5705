// Starts a server as a process of its own, asks what it has used, and ends it by its pid.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMs, residentBytes } from './process-figures.mjs'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 3000
const PROBE = new URL('probe.mjs', import.meta.url).href

/** Nothing that happens to be set for a Trivet elsewhere may reach the one that is measured. */
const SETTINGS = /^(?:TRIVET_|NODE_|HOST$|PORT$)/
const surroundings = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.test(name)))

const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

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
    /**
     * From now on stalls and memory are watched, until `stopWatching`, which says both on top of the usage.
     */
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

/**
 * Starts a process, and resolves when it has said what matches `until` on its standard output.
 *
 * @returns {Promise<{ pid: number, stop: () => Promise<void> }>}
 */
export async function startProcess (command, args, { until }) {
  const child = start(command, args, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  await untilStarted(child, command, (signal) => new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      if (signal.aborted) return
      said += chunk
      if (until.test(said)) resolve()
    })
  }))
  return { pid: child.pid, stop: () => stopProcess(child) }
}

/**
 * Starts a process of Node's that says by itself, over IPC, what there is to say.
 *
 * @returns {{ child: import('node:child_process').ChildProcess, stop: () => Promise<void> }}
 */
export function startAlone (node, args, { env, cwd }) {
  const child = start(node, args, { env, cwd, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return { child, stop: () => stopProcess(child) }
}

function start (command, args, { env, cwd, stdio }) {
  const child = spawn(command, args, { cwd, env: { ...surroundings, NODE_ENV: 'production', ...env }, stdio })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

async function untilStarted (child, name, wait) {
  const given = new AbortController()
  const { signal } = given
  const fail = (reason) => { throw new Error(`${name} ${reason}`) }
  const ended = once(child, 'exit', { signal })
  const broken = ended.then(([code]) => fail(`ended with code ${code} before it listened`))
  const late = sleep(START_TIMEOUT_MS, undefined, { signal }).then(() => fail('took too long to start'))
  const started = wait(signal)
  try {
    return await Promise.race([started, broken, late])
  } catch (error) {
    await stopProcess(child)
    throw error
  } finally {
    for (const loser of [started, broken, late]) loser.catch(() => {})
    given.abort()
  }
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

async function stopProcess (child) {
  if (!running.has(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await gone
  clearTimeout(impatient)
}
