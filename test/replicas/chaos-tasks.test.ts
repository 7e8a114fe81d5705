// A replica is killed about every second, and Redis fails over once, while tasks of twenty steps run. Each
// task ends, and each of its steps is recorded once. `npm run chaos:tasks` prints the figures of 200 tasks.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasNginx } from '../servers/nginx.ts'
import { startRedisFailover, type RedisFailover } from '../servers/redis-failover.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { TaskClient, toFiles } from '../features/tasks/task-client.ts'
import { openChaosPlaces, PLACES } from './chaos-places.ts'
import type { Place } from './places.ts'
import { postAgain } from './post-again.ts'

const { CHAOS_TASKS } = process.env
const TASKS = Number(CHAOS_TASKS ?? 16)
const STEPS = 20
/**
 * About as long as a step takes. Far shorter than the life of a replica: a task fails after five losses
 * without a new step.
 */
const STEP_MS = 300
/** A replica of a busy machine may renew late, which counts as a loss: a long run is no test of that. */
const LEASE_MS = CHAOS_TASKS === undefined ? 1500 : 5000
const KILL_EVERY_MS = 1000
const SPARES = CHAOS_TASKS === undefined ? 3 : Math.ceil(0.3 * TASKS)
/** The master's last writes, which its replica never gets: none of them may be acknowledged. */
const CUT_OFF_MS = 300
const PROBE_EVERY_MS = 50
const END_DEADLINE_MS = 180_000

/** `began` for each call of a step's function, `got` for what the step returned to the handler. */
interface Line {
  readonly what: 'began' | 'got'
  readonly task: string
  readonly step: number
  readonly value: string
}

const toTool = (file: string) => `async ({ task }, ctx) => {
  const { appendFileSync } = await import('node:fs')
  const note = (what, step, value) =>
    appendFileSync(${JSON.stringify(file)}, JSON.stringify({ what, task, step, value }) + '\\n')
  const values = []
  for (let step = 0; step < ${STEPS}; step++) {
    const value = await ctx.step('step ' + step, {}, async () => {
      const value = crypto.randomUUID()
      note('began', step, value)
      await new Promise((done) => setTimeout(done, ${STEP_MS} * (0.5 + Math.random())))
      return value
    })
    note('got', step, value)
    values.push(value)
  }
  return { values }
}`

if (hasRedisServer(t) && hasNginx(t)) {
  t.setTimeout(2 * END_DEADLINE_MS)

  t.test('every task ends, and each step is recorded once, whatever was killed', {
    timeout: 2 * END_DEADLINE_MS
  }, async (t) => {
    const over = new AbortController()
    try {
      await check(t, over)
    } finally {
      over.abort()
    }
  })
}

/** @param over ends the kills, and the start of replicas. */
async function check (t: Test, over: AbortController): Promise<void> {
  const file = join(await makeFolder(t), 'notes')
  const options = "task: 'required', onReplicaLoss: 'rerun', inputSchema: { type: 'object', properties: " +
    "{ task: { type: 'string' } } }"
  const catalog = await writeCatalog(t, toFiles({ work: [options, toTool(file)] }))
  const redis = await startRedisFailover(t)
  const { url, places } = await openChaosPlaces(t, {
    stateUrl: redis.url, catalog, leaseMs: LEASE_MS, spares: SPARES, signal: over.signal
  })
  const client = new TaskClient(async (parts) => await postAgain(url, parts))
  const created: Message[] = await Promise.all(
    Array.from({ length: TASKS }, async (_, index) => await client.call('work', { task: String(index) }))
  )
  t.equal(created.filter(({ resultType }) => resultType === 'task').length, TASKS)

  const ended = new Map<string, Message>()
  let isFailingOver = false
  let stepsAtKill = 0
  /** Whether the open tasks have done one step on average since the last kill. */
  const mayKill = async () => {
    const steps = valuesOf(await readLines(file)).size
    if (!isFailingOver && steps - stepsAtKill < TASKS - ended.size) return false
    stepsAtKill = steps
    return true
  }
  const killing = killInTurn(places, mayKill, over.signal)
  const probing = probe(client, created[0]?.taskId, over.signal)
  const ending = Promise.all(created.map(async ({ taskId }) => {
    ended.set(taskId, await untilEnd(client, taskId))
  }))
  await until(() => ended.size >= TASKS / 2, 'half of the tasks', END_DEADLINE_MS)
  const stepsBefore = valuesOf(await readLines(file)).size
  isFailingOver = true
  const { failoverMs, awayMs, endedBefore } = await failOver(redis, client, ended)
  isFailingOver = false
  await ending
  over.abort()
  const { kills, seconds } = await killing
  const longestMs = await probing

  t.equal(await redis.countFailovers(), 1, 'the Sentinels have seen one loss only')
  const found = await Promise.all(created.map(async ({ taskId }) => await client.get(taskId)))
  t.strictSame(found.filter(({ status }) => status !== 'completed'), [], 'each task is completed')
  const lines = await readLines(file)
  const got = valuesOf(lines)
  const doubled = [...got].filter(([, values]) => values.size > 1)
  t.strictSame(doubled, [], 'a step returned one value to all runs')
  t.equal(got.size, TASKS * STEPS, 'each step of each task has ended')
  const wrong = found.flatMap(({ taskId, result }, index) => {
    const expected = Array.from({ length: STEPS }, (_, step) => [...got.get(`${index} ${step}`) ?? []][0])
    const read = ended.get(taskId)?.result
    const isRight = result?.structuredContent.values.join() === expected.join() &&
      JSON.stringify(read) === JSON.stringify(result)
    return isRight ? [] : [index]
  })
  t.strictSame(wrong, [], 'each result is that of the steps, and stays the one that the client has read')
  t.ok(endedBefore > 0 && stepsBefore > 0, 'results and steps were acknowledged before the failover')
  t.ok(kills > PLACES, 'each replica was killed')
  const begun = lines.filter(({ what }) => what === 'began').length
  const stranded = found.filter(({ status }) => status === 'working')
  t.comment(`acknowledged: ${TASKS} tasks, ${got.size} of their ${TASKS * STEPS} steps, ${ended.size} results`)
  t.comment(`lost: ${TASKS * STEPS - got.size + wrong.length}, doubled: ${doubled.length}, ` +
    `stranded: ${stranded.length}; longest time unavailable: tasks ${longestMs} ms`)
  t.comment(`${begun} calls of steps, ${begun - TASKS * STEPS} of them repeated`)
  t.comment(`${kills} kills of a replica in ${seconds.toFixed(1)} s`)
  t.comment(`1 failover of Redis: a new master after ${failoverMs} ms, a task read after ${awayMs} ms; ` +
    `${endedBefore} results and ${stepsBefore} steps were acknowledged before`)
}

async function readLines (file: string): Promise<Line[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  // The last line may not be written whole yet.
  return text.split('\n').slice(0, -1).map((line) => JSON.parse(line))
}

/** What each step returned to the handler, by task and step. */
function valuesOf (lines: readonly Line[]): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>()
  for (const { task, step, value } of lines.filter(({ what }) => what === 'got')) {
    values.set(`${task} ${step}`, (values.get(`${task} ${step}`) ?? new Set()).add(value))
  }
  return values
}

async function untilEnd (client: TaskClient, taskId: string): Promise<Message> {
  const deadline = performance.now() + END_DEADLINE_MS
  for (;;) {
    const task = await client.get(taskId)
    if (task.status !== 'working' || performance.now() > deadline) return task
    await pause(300)
  }
}

/** Reads a task again and again. Resolves to the longest time until it was answered. */
async function probe (client: TaskClient, taskId: string, signal: AbortSignal): Promise<number> {
  let longestMs = 0
  while (!signal.aborted) {
    const begun = performance.now()
    await client.get(taskId)
    longestMs = Math.max(longestMs, Math.round(performance.now() - begun))
    await pause(PROBE_EVERY_MS)
  }
  return longestMs
}

/** Kills the replicas in turn, one every second at most, until the signal aborts. */
async function killInTurn (
  places: readonly Place[], mayKill: () => Promise<boolean>, signal: AbortSignal
) {
  const begun = performance.now()
  let kills = 0
  while (!signal.aborted) {
    const beat = pause(KILL_EVERY_MS)
    await places[kills++ % places.length]?.replace()
    await beat
    // Replicas of a busy machine need longer for a step.
    while (!signal.aborted && !await mayKill()) await pause(100)
  }
  return { kills, seconds: (performance.now() - begun) / 1000 }
}

/** Kills the master of Redis, and starts it again as a replica of the new one. */
async function failOver (redis: RedisFailover, client: TaskClient, ended: ReadonlyMap<string, Message>) {
  redis.cutOffReplica()
  await pause(CUT_OFF_MS)
  const [taskId = ''] = ended.keys()
  const endedBefore = ended.size
  const begun = performance.now()
  await redis.master.kill()
  const reading = client.get(taskId).then(() => Math.round(performance.now() - begun))
  await redis.failedOver()
  const failoverMs = Math.round(performance.now() - begun)
  const awayMs = await reading
  await redis.master.restart()
  return { failoverMs, awayMs, endedBefore }
}
