// Starts and ends the processes of the benchmark. Each process has its own environment, and is ended by its
// pid.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 3000

/** Settings for another Trivet must not reach the measured servers. */
const SETTINGS = /^(?:TRIVET_|NODE_|HOST$|PORT$)/
const surroundings = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTINGS.test(name)))

const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/**
 * Starts a process, and resolves when what it prints matches `until`.
 *
 * @param user the ids that it runs with: those of the benchmark by default
 * @returns {Promise<{ pid: number, stop: () => Promise<void> }>}
 */
export async function startProcess (command, args, { until, user }) {
  const child = start(command, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'], ...user })
  let said = ''
  await untilStarted(child, command, (signal) => new Promise((resolve) => {
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (chunk) => {
        if (signal.aborted) return
        said += chunk
        if (until.test(said)) resolve()
      })
    }
  })).catch((error) => { throw new Error(`${error.message}:\n${said}`, { cause: error }) })
  return { pid: child.pid, stop: () => stopProcess(child) }
}

/** Starts a child process, whose standard error is the standard error of the benchmark. */
export function start (command, args, { env, ...options }) {
  const child = spawn(command, args, { ...options, env: { ...surroundings, NODE_ENV: 'production', ...env } })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Resolves with the result of `wait`. Rejects if the process ends first or takes too long. */
export async function untilStarted (child, name, wait) {
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

export async function stopProcess (child) {
  if (!running.has(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await gone
  clearTimeout(impatient)
}
