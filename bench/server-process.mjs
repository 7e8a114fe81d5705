// Starts a server as a process of its own, waits for what it says on its standard output, and ends it by its pid.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 3000
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\w*/

/** Nothing that happens to be set for a Trivet elsewhere may reach the one that is measured. */
const surroundings = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TRIVET_')))

const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/**
 * Starts a server of Node's, and resolves when it has said where it listens.
 *
 * @param {string} file
 * @param {Record<string, string>} env on top of our own
 * @param {{ outputFile?: string }} [options] `outputFile`: standard output goes there, so that reading it costs us nothing
 * @returns {Promise<{ url: string, pid: number, startMs: number, stop: () => Promise<void> }>}
 */
export async function startServer (file, env, options) {
  const { said, ...server } = await startProcess(process.execPath, [file], { env, until: ADDRESS, ...options })
  return { url: said, ...server }
}

/**
 * Resolves when the process has said what matches `until`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ until: RegExp, env?: Record<string, string>, outputFile?: string }} options
 * @returns {Promise<{ said: string, pid: number, startMs: number, stop: () => Promise<void> }>} `said`: what matched
 */
export async function startProcess (command, args, { until, env, outputFile }) {
  const output = outputFile === undefined ? 'pipe' : openSync(outputFile, 'w')
  const startedAt = performance.now()
  const child = spawn(command, args, {
    env: { ...surroundings, NODE_ENV: 'production', ...env },
    stdio: ['ignore', output, 'inherit']
  })
  if (outputFile !== undefined) closeSync(output)
  running.add(child)
  child.once('exit', () => running.delete(child))
  const stop = () => stopServer(child)
  try {
    const said = await untilStarted(child, `${command} ${args[0]}`, outputFile === undefined ? findInPipe(child, until) : findInFile(child, until, outputFile))
    return { said, pid: child.pid, startMs: performance.now() - startedAt, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilStarted (child, name, started) {
  const given = new AbortController()
  const gone = once(child, 'exit', { signal: given.signal }).then(([code]) => { throw new Error(`${name} ended with code ${code} before it listened`) })
  const late = sleep(START_TIMEOUT_MS, undefined, { signal: given.signal }).then(() => { throw new Error(`${name} did not listen within ${START_TIMEOUT_MS} ms`) })
  try {
    return await Promise.race([started, gone, late])
  } finally {
    for (const loser of [gone, late]) loser.catch(() => {})
    given.abort()
  }
}

function findInPipe (child, pattern) {
  return new Promise((resolve) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      if (said === undefined) return
      said += chunk
      const found = pattern.exec(said)
      if (found === null) return
      said = undefined
      resolve(found[0])
    })
  })
}

async function findInFile (child, pattern, outputFile) {
  while (running.has(child)) {
    const found = pattern.exec(await readFile(outputFile, 'utf8'))
    if (found !== null) return found[0]
    await sleep(20)
  }
}

async function stopServer (child) {
  if (!running.has(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await gone
  clearTimeout(impatient)
}
