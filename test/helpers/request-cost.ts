// The CPU time that a request costs beyond the time of parsing its bytes.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { ToSend } from './request.ts'

const MAX_CPU_MS = 50
const MIN_RUNS = 3
const MAX_RUNS = 40
/** Between the later runs, so that they do not all meet the same other work. */
const PAUSE_MS = 250

/** Of a body, in bytes. Below the default limit with its envelope. */
export const LARGE = 1_000_000

/** Asserts that no request costs more than 50 ms. Each is sent several times, and its cheapest run counts. */
export async function checkCosts (
  t: Test, app: FastifyInstance, requests: ReadonlyArray<readonly [kind: string, request: ToSend]>
): Promise<void> {
  for (const [kind, request] of requests) {
    const { ms, status } = await measure(app, request)
    t.comment(`${ms.toFixed(1)} ms, ${status}: ${kind}`)
    t.ok(ms < MAX_CPU_MS, kind)
  }
}

async function measure (
  app: FastifyInstance, { headers, body }: ToSend
): Promise<{ ms: number, status: number }> {
  let [parsing, serving, status] = [Infinity, Infinity, 0]
  for (let run = 0; run < MAX_RUNS && (run < MIN_RUNS || serving - parsing > MAX_CPU_MS); run++) {
    if (run >= MIN_RUNS) await pause(PAUSE_MS)
    parsing = Math.min(parsing, parsingMs(body))
    const start = process.cpuUsage()
    const { statusCode } = await app.inject({ method: 'POST', url: '/mcp', headers, body })
    serving = Math.min(serving, cpuMs(start))
    status = statusCode
  }
  return { ms: serving - parsing, status }
}

function cpuMs (since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

function parsingMs (body: string): number {
  const start = process.cpuUsage()
  JSON.parse(Buffer.from(body).toString())
  return cpuMs(start)
}
