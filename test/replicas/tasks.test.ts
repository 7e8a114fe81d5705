// Tasks survive the loss of the replica that runs them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CONSTANTS } from '../../src/ops/config/constants.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { startService, type Service } from '../helpers/service.ts'
import { openStream, post } from '../helpers/stream.ts'
import { TaskClient, TASKS, toFiles } from '../features/tasks/task-client.ts'

const LEASE_MS = 1000
/** Steps begin after the grace time, when the call is a task. */
const FIRST_STEP_MS = CONSTANTS.taskGraceMs + 100
const STEPS = 6
/** The replica is lost in this step: it has time for that on a busy machine. */
const LONG_STEP_MS = 1000
const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', properties: {} } })"

/** Notes what happens in a file, with the process. */
const toTools = (file: string) => {
  const note = `const note = (text) => appendFileSync(${JSON.stringify(file)}, process.pid + ' ' + text + '\\n');`
  const steps = `async (_, ctx) => { const { appendFileSync } = await import('node:fs'); ${note} note('run')
    ctx.signal.addEventListener('abort', () => note('aborted'))
    await new Promise((done) => setTimeout(done, ${FIRST_STEP_MS}))
    let text = ''
    for (let i = 0; i < ${STEPS}; i++) text += await ctx.step('step ' + i, {}, async () => {
      note('step ' + i); await new Promise((done) => setTimeout(done, i === 2 ? ${LONG_STEP_MS} : 200)); return i })
    return text }`
  return {
    reruns: ["task: 'required', onReplicaLoss: 'rerun'", steps],
    fails: ["task: 'required'", steps],
    asks: ["task: 'allowed'", `async (_, ctx) => {
      await ctx.sleep(1000); await ctx.ask({ go: ${FORM} }); return String(process.pid) }`]
  } as const
}

interface Notes { of (text: string): Promise<string[]> }

async function prepare (t: Test, stateUrl: string) {
  const file = join(await makeFolder(t), 'notes')
  const environment = {
    TRIVET_CATALOG: await writeCatalog(t, toFiles(toTools(file))),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: stateUrl,
    TRIVET_SECRETS: 'the secret that all replicas of the test have',
    TRIVET_TASK_LEASE_MS: String(LEASE_MS)
  }
  const notes: Notes = {
    async of (text) {
      const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n')
      return lines.filter((line) => line.endsWith(` ${text}`))
    }
  }
  return { environment, notes }
}

const clientOf = (t: Test, { url }: Service) => new TaskClient(async (parts) => await post(t, url, parts))

/** The time from now until another process runs the handler. */
async function untilTaken (notes: Notes, ms: number): Promise<number> {
  const begun = performance.now()
  await until(async () => (await notes.of('run')).length > 1, 'another run', ms)
  return performance.now() - begun
}

const RESULT = { content: [{ text: Array.from({ length: STEPS }, (_, index) => index).join('') }] }

if (hasRedisServer(t)) {
  const begin = async (t: Test) => {
    const redis = await startRedisServer(t)
    const { environment, notes } = await prepare(t, redis.url)
    const [first, second] = await Promise.all([startService(t, environment), startService(t, environment)])
    return { first, second, notes, one: clientOf(t, first), other: clientOf(t, second) }
  }

  t.test('another replica takes over within two lease times, and repeats no ended step', async (t) => {
    const { first, notes, one, other } = await begin(t)
    const { taskId } = await one.call('reruns')
    await until(async () => (await notes.of('step 2')).length > 0, 'the third step')
    await first.stop('SIGKILL')
    const tookMs = await untilTaken(notes, 10_000)
    t.ok(tookMs < 2 * LEASE_MS + 300, `${Math.round(tookMs)} ms`)
    t.match(await other.until(taskId, 'completed'), { result: RESULT })
    for (const [step, times] of [[0, 1], [1, 1], [3, 1], [4, 1], [5, 1]] as const) {
      t.equal((await notes.of(`step ${step}`)).length, times, `step ${step}`)
    }
    t.equal((await notes.of('step 2')).length, 2, 'the step that was interrupted ran again')
  })

  t.test('a task whose tool must not run again fails, and says why', async (t) => {
    const { first, notes, one, other } = await begin(t)
    const { taskId } = await one.call('fails')
    await until(async () => (await notes.of('step 1')).length > 0, 'the second step')
    await first.stop('SIGKILL')
    t.match(await other.until(taskId, 'failed', 10_000), {
      error: { code: -32603, message: /^The replica was lost while the task ran/ }
    })
    t.equal((await notes.of('run')).length, 1)
  })

  t.test('a replica that was paused writes nothing when it continues', async (t) => {
    const { first, notes, one, other } = await begin(t)
    const { taskId } = await one.call('reruns')
    await until(async () => (await notes.of('step 2')).length > 0, 'the third step')
    first.child.kill('SIGSTOP')
    t.match(await other.until(taskId, 'completed', 10_000), { result: RESULT })
    const before = await other.get(taskId)
    first.child.kill('SIGCONT')
    await until(async () => (await notes.of('aborted')).length > 0, 'the signal to abort')
    t.strictSame(await other.get(taskId), before)
    t.strictSame(await one.get(taskId), before, 'seen by both')
  })

  t.test('a replica that ends leaves its tasks to the others at once', async (t) => {
    const { first, notes, one, other } = await begin(t)
    const [{ taskId }, { taskId: failing }] = await Promise.all([one.call('reruns'), one.call('fails')])
    await until(async () => (await notes.of('step 0')).length === 2, 'the first steps')
    const ending = first.stop('SIGTERM')
    t.match(await other.until(taskId, 'completed', 10_000), { result: RESULT })
    t.match(await other.until(failing, 'completed', 10_000), { result: RESULT })
    t.equal(await ending, 0)
    t.equal((await notes.of('run')).length, 2, 'both ended within the time of the shutdown')
  })

  t.test('a replica that must end before its tasks releases them', async (t) => {
    const redis = await startRedisServer(t)
    const { environment, notes } = await prepare(t, redis.url)
    const [first, second] = await Promise.all([
      startService(t, { ...environment, TRIVET_SHUTDOWN_TIMEOUT_MS: '1' }), startService(t, environment)
    ])
    const [one, other] = [clientOf(t, first), clientOf(t, second)]
    const [{ taskId }, { taskId: failing }] = await Promise.all([one.call('reruns'), one.call('fails')])
    t.equal(await first.stop('SIGTERM'), 0)
    t.match(await other.get(failing), { status: 'failed', error: { message: /^The replica was stopped while/ } })
    t.match(await other.until(taskId, 'completed', 10_000), { result: RESULT })
    t.equal((await notes.of('run')).length, 3)
  })

  t.test('a cancellation reaches the replica that runs the task', async (t) => {
    const { notes, one, other } = await begin(t)
    const { taskId } = await one.call('fails')
    await until(async () => (await notes.of('run')).length > 0, 'the run')
    await other.cancel(taskId)
    t.match(await one.get(taskId), { status: 'cancelled' })
    await until(async () => (await notes.of('aborted')).length > 0, 'the signal to abort', 500)
  })

  t.test('any replica takes answers, and tells the status', async (t) => {
    const { second, one, other } = await begin(t)
    const { taskId } = await one.call('asks')
    const stream = await openStream(t, second.url, {
      method: 'subscriptions/listen',
      params: { notifications: { taskIds: [taskId] } },
      meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS }
    })
    await other.until(taskId, 'input_required')
    await one.update(taskId, { go: { action: 'decline' } })
    await until(() => stream.messages.at(-1).params.status === 'completed', 'the news of the end')
    const statuses = stream.messages.slice(1).map(({ params }) => params.status)
    t.ok(statuses.includes('input_required'), statuses.join())
  })
}

t.test('after a kill and a restart the tasks in a folder go on', async (t) => {
  const folder = await makeFolder(t)
  const { environment, notes } = await prepare(t, `file:${folder}`)
  const first = await startService(t, environment)
  const one = clientOf(t, first)
  const [{ taskId }, { taskId: failing }] = await Promise.all([one.call('reruns'), one.call('fails')])
  const { taskId: asking } = await one.call('asks')
  await until(async () => (await notes.of('step 2')).length > 1, 'the third steps')
  await first.stop('SIGKILL')
  await pause(1000)
  const second = clientOf(t, await startService(t, environment))
  t.match(await second.until(taskId, 'completed', 10_000), { result: RESULT })
  t.match(await second.until(failing, 'failed'), { error: { message: /^The replica was lost/ } })
  t.equal((await notes.of('step 1')).length, 2, 'once for each task')
  await second.until(asking, 'input_required')
  await second.update(asking, { go: { action: 'decline' } })
  await second.until(asking, 'completed')
})
