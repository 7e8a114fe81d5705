// A replica is killed every two seconds while clients without tasks and elicitation call a tool that takes
// steps, sleeps and asks. Each call ends with its result, and each of its steps is recorded once. CHAOS_CALLS
// is the number of calls.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import type { Message } from '../helpers/request.ts'
import { callOf, textOf } from '../hosts/plain-client.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { toFiles } from '../features/tasks/task-client.ts'
import { openChaosPlaces } from './chaos-places.ts'
import type { Place } from './places.ts'
import { postAgain } from './post-again.ts'
import { toValues } from './storm-tasks.ts'

const CALLS = Number(process.env.CHAOS_CALLS ?? 20)
const STEPS = ['order', 'bake', 'deliver']
const KILL_EVERY_MS = 2000
const SPARES = 4 + Math.ceil(CALLS / 8)
const LEASE_MS = 1500
const DEADLINE_MS = 240_000

const toTool = (file: string) => `async ({ order }, ctx) => {
  const { appendFileSync } = await import('node:fs')
  const step = async (name) => {
    const value = await ctx.step(name, async () => {
      await new Promise((done) => setTimeout(done, 100))
      return crypto.randomUUID()
    })
    appendFileSync(${JSON.stringify(file)}, [order, name, value].join(' ') + '\\n')
  }
  await step('order')
  await ctx.sleep(1000 + 2000 * Math.random(), { key: 'mix' })
  const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema: {
    type: 'object', properties: { size: { type: 'string', enum: ['S', 'L'] } }, required: ['size'] } }) })
  await step('bake')
  await ctx.sleep(1000, { key: 'bake' })
  await step('deliver')
  return order + ' ' + size.content.size
}`

if (hasRedisServer(t) && hasNginx(t)) {
  t.setTimeout(2 * DEADLINE_MS)

  t.test('every call of a plain client ends, and does each step once', {
    timeout: 2 * DEADLINE_MS
  }, async (t) => {
    const over = new AbortController()
    const file = join(await makeFolder(t), 'notes')
    const options = "task: 'allowed', relayQuestions: true, onReplicaLoss: 'rerun', inputSchema: " +
      "{ type: 'object', properties: { order: { type: 'string' } } }"
    const catalog = await writeCatalog(t, toFiles({ order_cake: [options, toTool(file)] }))
    const redis = await startRedisServer(t)
    const { url, places } = await openChaosPlaces(t, {
      stateUrl: redis.url,
      catalog,
      leaseMs: LEASE_MS,
      spares: SPARES,
      signal: over.signal,
      environment: { TRIVET_TASK_WAIT_MS: '1500' }
    })
    const killing = killInTurn(places, over.signal)
    const begun = performance.now()
    const results = await Promise.all(Array.from({ length: CALLS }, async (_, index) => {
      await pause(index * 100)
      return await orderCake(url, `order-${index}`)
    })).finally(() => over.abort())
    const kills = await killing

    const lost = results.filter(({ text }, index) => text !== `order-${index} L`)
    t.strictSame(lost, [], 'each call has its result')
    const values = toValues(await readFile(file, 'utf8'))
    t.equal(values.size, CALLS * STEPS.length, 'each step was done')
    const doubled = [...values].filter(([, all]) => all.size > 1)
    t.strictSame(doubled, [], 'a step returned one value to all runs')
    const requests = results.reduce((sum, { requests }) => sum + requests, 0)
    t.comment(`${CALLS} calls, ${requests} requests, ${kills} kills in ` +
      `${((performance.now() - begun) / 1000).toFixed(1)} s: lost ${lost.length}, doubled ${doubled.length}`)
  })
}

/** Calls the tool, and does what the texts tell its model. */
async function orderCake (url: string, order: string): Promise<{ text: string, requests: number }> {
  let requests = 0
  async function call (name: string, args: object): Promise<Message> {
    requests++
    const headers = name === 'order_cake' ? { 'idempotency-key': order } : {}
    return await send(url, name, args, headers)
  }
  const deadline = performance.now() + DEADLINE_MS
  let result = await call('order_cake', { order })
  while (/continue_call/.test(textOf(result)) && performance.now() < deadline) {
    const isAsked = textOf(result).includes('"size" (required)')
    const answers = isAsked ? { answers: { size: { size: 'L' } } } : {}
    result = await call('continue_call', { call: callOf(result), ...answers })
  }
  return { text: textOf(result) || JSON.stringify(result), requests }
}

/** Hosts and their users send a request again after a failure. */
async function send (
  url: string, name: string, args: object, headers: { readonly [name: string]: string }
): Promise<Message> {
  const parts = { method: 'tools/call', params: { name, arguments: args }, headers }
  const noAnswer = { response: { result: { content: [{ text: 'no answer' }] } } }
  const { response }: { response: Message } = await postAgain(url, parts, DEADLINE_MS).catch(() => noAnswer)
  return response.result ?? response.error
}

/** Resolves to the number of kills when the signal aborts. */
async function killInTurn (places: readonly Place[], signal: AbortSignal): Promise<number> {
  let kills = 0
  while (!signal.aborted) {
    await pause(KILL_EVERY_MS)
    if (!signal.aborted) await places[kills++ % places.length]?.replace()
  }
  return kills
}
