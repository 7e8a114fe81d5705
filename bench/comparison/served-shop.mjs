// Starts a shop as a process, and connects the official client to it.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { findFreePort } from '../servers/free-port.mjs'
import { start, untilStarted } from '../servers/processes.mjs'

const STOP_TIMEOUT_MS = 20_000
/** The machine is busy: installations have just run. */
const TRIVET = { TRIVET_OVERLOAD: 'off', TRIVET_LOG_LEVEL: 'warn' }

/** Resolves when the shop answers. `stop` resolves to the exit code and the time that the end took. */
export async function serveShop ({ main }, cwd, env = {}) {
  const port = String(await findFreePort())
  const url = `http://127.0.0.1:${port}/mcp`
  const child = start(process.execPath, main, {
    cwd, env: { PORT: port, ...TRIVET, ...env }, stdio: ['ignore', 'ignore', 'inherit']
  })
  await untilStarted(child, cwd, (signal) => untilAnswering(url, signal))
  return {
    url,
    async stop () {
      const from = performance.now()
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      const [code] = await ended
      clearTimeout(impatient)
      return { code, ms: performance.now() - from }
    }
  }
}

export async function untilAnswering (url, signal) {
  while (!signal.aborted) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await sleep(50)
    }
  }
}

/** @param {string | object} mode `auto`, `legacy`, or `{ pin: REVISION }`. The user says yes to each form. */
export async function connect (url, mode) {
  const client = new Client({ name: 'comparison', version: '1.0.0' }, {
    capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode }
  })
  const yes = { action: 'accept', content: { confirm: true } }
  client.setRequestHandler('elicitation/create', async () => yes)
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}
