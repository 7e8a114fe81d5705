// Replicas are killed one after the other, and Redis once, while tasks of ten steps run. Each task ends, and
// each of its steps is recorded once. `npm run chaos:tasks` prints the figures of 200 tasks.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasNginx } from '../helpers/nginx.ts'
import { hasRedisServer } from '../helpers/redis-server.ts'
import { startReplicas, type Replicas } from '../helpers/replicas.ts'
import { toPost, type Message } from '../helpers/request.ts'
import { TaskClient, toFiles } from '../tasks/task-client.ts'

const TASKS = Number(process.env.CHAOS_TASKS ?? 40)
const STEPS = 10
/** About as long as a step takes. Shorter than the life of a replica: otherwise no step would end. */
const STEP_MS = 1000
const LEASE_MS = 1500
const KILL_EVERY_MS = 1000
/** Redis is killed after this many replicas. */
const KILLS_BEFORE_REDIS = 4
const REDIS_AWAY_MS = 1000
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
    const file = join(await makeFolder(t), 'notes')
    const options = "task: 'required', onReplicaLoss: 'rerun', inputSchema: { type: 'object', properties: " +
      "{ task: { type: 'string' } } }"
    const topology = await startReplicas(t, {
      catalog: await writeCatalog(t, toFiles({ work: [options, toTool(file)] })),
      environment: { TRIVET_TASK_GRACE_MS: '20', TRIVET_TASK_LEASE_MS: String(LEASE_MS), TRIVET_WATCH: 'off' }
    })
    const client = toClient(topology)
    const started = performance.now()
    const created: Message[] = await Promise.all(
      Array.from({ length: TASKS }, async (_, index) => await client.call('work', { task: String(index) }))
    )
    t.equal(created.filter(({ resultType }) => resultType === 'task').length, TASKS)
    const over = new AbortController()
    const wreaking = wreak(topology, over.signal)
    const ended = await Promise.all(created.map(async ({ taskId }) => await untilEnd(client, taskId)))
    const tookMs = performance.now() - started
    over.abort()
    const kills = await wreaking

    t.strictSame(ended.filter(({ status }) => status !== 'completed'), [], 'each task is completed')
    const lines: Line[] = (await readFile(file, 'utf8')).trim().split('\n').map((line) => JSON.parse(line))
    const toPlace = ({ task, step }: Line) => `${task} ${step}`
    const got = new Map<string, Set<string>>()
    for (const line of lines.filter(({ what }) => what === 'got')) {
      got.set(toPlace(line), (got.get(toPlace(line)) ?? new Set()).add(line.value))
    }
    const doubled = [...got].filter(([, values]) => values.size > 1)
    t.strictSame(doubled, [], 'a step returned one value to all runs')
    t.equal(got.size, TASKS * STEPS, 'each step of each task has ended')
    for (const [index, { result }] of ended.entries()) {
      const expected = Array.from({ length: STEPS }, (_, step) => [...got.get(`${index} ${step}`) ?? []][0])
      const { values } = result.structuredContent
      if (values.join() !== expected.join()) t.fail(`the result of task ${index} is not that of its steps`)
    }
    const begun = lines.filter(({ what }) => what === 'began').length
    t.ok(kills > 0, 'replicas were killed')
    t.comment(`${TASKS} tasks of ${STEPS} steps in ${Math.round(tookMs)} ms`)
    t.comment(`${kills} kills of a replica, 1 of Redis`)
    t.comment(`${begun} calls of steps, ${begun - TASKS * STEPS} of them again; ${got.size} steps recorded`)
  })
}

/** A client that sends a request again after a failure of the connection or of the state. */
function toClient ({ url }: Replicas): TaskClient {
  return new TaskClient(async (parts) => {
    const { headers, body } = toPost(parts)
    for (;;) {
      try {
        const signal = AbortSignal.timeout(10_000)
        const answer = await fetch(url, { method: 'POST', headers, body, signal })
        const response: Message = await answer.json()
        if (answer.status < 500 && response.error?.code !== 503) return { status: answer.status, response }
      } catch {
        // The replica was killed.
      }
      await pause(100)
    }
  })
}

async function untilEnd (client: TaskClient, taskId: string): Promise<Message> {
  const deadline = performance.now() + END_DEADLINE_MS
  for (;;) {
    const task = await client.get(taskId)
    if (task.status !== 'working' || performance.now() > deadline) return task
    await pause(300)
  }
}

/** Kills the replicas in turn, and Redis once, until all tasks have ended. Returns how many replicas. */
async function wreak ({ replicas, redis }: Replicas, signal: AbortSignal): Promise<number> {
  let kills = 0
  while (!signal.aborted || kills < KILLS_BEFORE_REDIS) {
    const beat = pause(KILL_EVERY_MS)
    const replica = replicas[kills++ % replicas.length]
    await replica?.kill('SIGKILL')
    await replica?.restart()
    if (kills === KILLS_BEFORE_REDIS) {
      await redis.kill()
      await pause(REDIS_AWAY_MS)
      await redis.restart()
    }
    await beat
  }
  return kills
}
