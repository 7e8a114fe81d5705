// Measures how many tasks a service begins and ends: a client calls a tool, and asks for the task until it is
// completed.

import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from '../figures/stats.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { QUICK, TASKS } from './task-tools.mjs'

export const IN_FLIGHT = 32
/** Before a client asks again. */
const POLL_MS = 2

/** Keeps tasks in flight for some seconds. @throws if a task does not complete with its result */
export async function runTasks ({ url }, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  const ask = (method, params) => send(agent, url, modernRequest(method, params, 1, TASKS))
  const latencies = []
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  await Promise.all(Array.from({ length: IN_FLIGHT }, async (_, client) => {
    for (let amount = client; performance.now() < endsAt; amount += IN_FLIGHT) {
      const begunAt = performance.now()
      const { taskId } = await ask('tools/call', { name: QUICK, arguments: { amount } })
      let task = await ask('tasks/get', { taskId })
      while (task.status === 'working') {
        await pause(POLL_MS)
        task = await ask('tasks/get', { taskId })
      }
      const text = task.result?.content[0].text
      if (text !== `sum ${amount}`) throw new Error(`a wrong end of a task: ${JSON.stringify(task)}`)
      latencies.push(performance.now() - begunAt)
    }
  }))
  const elapsedMs = performance.now() - startedAt
  agent.destroy()
  const sorted = Float64Array.from(latencies).sort()
  return {
    count: sorted.length,
    perSecond: sorted.length / elapsedMs * 1000,
    p50Ms: percentile(sorted, 0.50),
    p99Ms: percentile(sorted, 0.99)
  }
}

/** Cheaper than fetch: the client has its share of the machine too. */
async function send (agent, url, { headers, body }) {
  const text = await new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method: 'POST', headers }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', (part) => { text += part }).on('end', () => resolve(text))
    })
    outgoing.on('error', reject).end(body)
  })
  const { result } = JSON.parse(text)
  if (result === undefined) throw new Error(`a wrong answer: ${text}`)
  return result
}
