// The service under test: the built main.js as a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

const ENDPOINT = /http:\/\/127\.0\.0\.1:\d+\/mcp/
const START_TIMEOUT_MS = 20_000
const STOP_TIMEOUT_MS = 15_000

/**
 * Starts the service over a catalog folder, on a free port of the loopback interface, and waits until it
 * listens.
 *
 * @param {string} main path of the built main.js
 * @param {string} catalog path of the catalog folder
 * @returns {Promise<{ url: string, output: () => string, stop: () => Promise<void> }>}
 */
export async function startService (main, catalog) {
  const child = spawn(process.execPath, [main], {
    env: environment(catalog), stdio: ['ignore', 'pipe', 'pipe']
  })
  const killNow = () => child.kill('SIGKILL')
  process.once('exit', killNow)

  let output = ''
  const collect = (text) => { output += text }
  child.stdout.setEncoding('utf8').on('data', collect)
  child.stderr.setEncoding('utf8').on('data', collect)
  child.once('exit', (code, signal) => collect(`The service ended with ${signal ?? `exit code ${code}`}.\n`))

  async function stop () {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      const inTime = await Promise.race([gone, pause(STOP_TIMEOUT_MS, false, { ref: false })])
      if (inTime === false) {
        console.error(`The service was still there ${STOP_TIMEOUT_MS} ms after SIGTERM: killed.`)
        killNow()
        await gone
      }
    }
    process.off('exit', killNow)
  }

  try {
    return { url: await endpoint(child, () => output), output: () => output, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The environment without settings of the service: the developer's shell must not change the run. */
function environment (catalog) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('TRIVET_'))
  return {
    ...Object.fromEntries(inherited),
    HOST: '127.0.0.1',
    PORT: '0',
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: 'on',
    TRIVET_LOG_LEVEL: 'warn',
    TRIVET_STATE_URL: 'memory:'
  }
}

/** The URL that the service prints once it listens. */
function endpoint (child, output) {
  return new Promise((resolve, reject) => {
    const fail = (what) => reject(new Error(`The service ${what}. It printed:\n${output()}`))
    const timer = setTimeout(() => fail(`printed no URL within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS)
    child.once('close', () => fail('ended before it listened'))
    child.once('close', () => clearTimeout(timer))
    child.stdout.on('data', () => {
      const url = ENDPOINT.exec(output())?.[0]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
  })
}
