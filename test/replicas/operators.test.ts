// Operators at the admin addresses of replicas that share a Redis, and that differ in releases and secrets.

import { once } from 'node:events'
import t, { type Test } from 'tap'
import { adminOriginOf, linesOf } from '../helpers/admin.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { runProgram } from '../helpers/program.ts'
import { startService, type Service } from '../helpers/service.ts'
import { openStream, post } from '../helpers/stream.ts'
import { hasRedisServer, startRedisCluster, startRedisServer } from '../servers/redis-server.ts'
import { TaskClient, TASKS, toFiles } from '../features/tasks/task-client.ts'

const TOKEN = 'the-token-of-the-operators-of-this-test'
const LEASE_MS = 1000
const OPTIONS = "task: 'required', onReplicaLoss: 'rerun'"
const WORK = `async (_, ctx) => {
  await ctx.once('first', () => 1)
  await new Promise((done, fail) => { ctx.signal.addEventListener('abort', () => fail(ctx.signal.reason)) }) }`

async function prepare (t: Test, stateUrl: string) {
  const [both, old] = [
    await writeCatalog(t, toFiles({ works: [OPTIONS, WORK], other: [OPTIONS, WORK] })),
    await writeCatalog(t, toFiles({ other: [OPTIONS, WORK] }))
  ]
  const environment = {
    TRIVET_CATALOG: both,
    TRIVET_STATE_URL: stateUrl,
    TRIVET_SECRETS: 'the secret that all replicas of the test have',
    TRIVET_TASK_LEASE_MS: String(LEASE_MS),
    TRIVET_ADMIN_PORT: '0',
    TRIVET_ADMIN_TOKEN: TOKEN
  }
  return { environment, old }
}

async function operatorOf (service: Service) {
  const admin = await adminOriginOf(service)
  return {
    async ask (...args: string[]) {
      const { out, err } = await runProgram(
        ['tasks', ...args, '--json', '--admin', admin], { TRIVET_ADMIN_TOKEN: TOKEN }
      )
      return JSON.parse(out === '' ? err : out)
    },
    async stuck () {
      const text = await (await fetch(`${admin}/metrics`)).text()
      return linesOf(text, 'trivet_tasks_stuck').map((line) => line.replace('trivet_tasks_stuck', ''))
    }
  }
}

const clientOf = (t: Test, { url }: Service) => new TaskClient(async (parts) => await post(t, url, parts))

if (hasRedisServer(t)) {
  t.test('an operator sees and cancels what runs on another replica, and followers are told', async (t) => {
    const redis = await startRedisServer(t)
    const { environment } = await prepare(t, redis.url)
    const [one, other] = [await startService(t, environment), await startService(t, environment)]
    const { taskId } = await clientOf(t, one).call('works')
    const stream = await openStream(t, other.url, {
      method: 'subscriptions/listen',
      params: { notifications: { taskIds: [taskId] } },
      meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS }
    })
    const { ask, stuck } = await operatorOf(other)
    await until(async () => (await ask('show', taskId)).lastStep === 'first', 'the first step')
    t.match(await ask('list', '--status', 'working'), {
      tasks: [{ taskId, phase: 'running', tool: 'works', runs: 1, losses: 0, isOverdue: false }]
    })
    t.match(await ask('cancel', taskId), { status: 'cancelled' })
    t.match(await clientOf(t, one).get(taskId), { status: 'cancelled' })
    await until(() => stream.messages.some(
      ({ params }) => params?.taskId === taskId && params.status === 'cancelled'
    ), 'the notification')
    t.match(await ask('list'), { tasks: [{ taskId, status: 'cancelled' }] }, 'it is listed after its end')
    t.strictSame(await stuck(), ['{reason="overdue"} 0', '{reason="left"} 0'])
  })

  t.test('a release without the tool and a replica without the secret say what they lack', async (t) => {
    const redis = await startRedisServer(t)
    const { environment, old } = await prepare(t, redis.url)
    const one = await startService(t, environment)
    const { taskId } = await clientOf(t, one).call('works')
    const release = await startService(t, { ...environment, TRIVET_CATALOG: old })
    const stranger = await startService(t, {
      ...environment, TRIVET_SECRETS: 'another secret that the replicas of the test lack'
    })
    const [atRelease, atStranger] = [await operatorOf(release), await operatorOf(stranger)]
    await until(async () => (await atRelease.ask('show', taskId)).lastStep === 'first', 'the first step')
    t.strictSame((await atStranger.ask('list')).tasks, [{ taskId, left: 'sealed' }])
    const refused = await atStranger.ask('cancel', taskId)
    t.match(refused, { error: { message: /409: The task is sealed with a secret/ } })
    t.strictSame(await atRelease.stuck(), ['{reason="overdue"} 0', '{reason="left"} 0'])

    one.child.kill('SIGKILL')
    await once(one.child, 'close')
    await until(async () => {
      return (await atRelease.stuck()).includes('{reason="left"} 1')
    }, 'the task is stuck', 20 * LEASE_MS)
    await until(async () => (await atRelease.ask('show', taskId)).left === 'unknown', 'it is left', 10_000)
    const next = await startService(t, environment)
    await until(async () => (await atRelease.ask('show', taskId)).runs === 2, 'the second run', 20 * LEASE_MS)
    t.match(await atRelease.ask('show', taskId), { phase: 'running', losses: 1 })
    const isNoneLeft = async () => (await atRelease.stuck()).includes('{reason="left"} 0')
    await until(isNoneLeft, 'nothing is stuck', 10_000)
    t.match(await atRelease.ask('cancel', taskId), { status: 'cancelled' })
    t.match(await clientOf(t, next).get(taskId), { status: 'cancelled' })
  })

  t.test('in a cluster', async (t) => {
    const cluster = await startRedisCluster(t)
    const { environment } = await prepare(t, cluster.url)
    const [one, other] = [await startService(t, environment), await startService(t, environment)]
    const { ask, stuck } = await operatorOf(other)
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push((await clientOf(t, one).call('works')).taskId)
    const { tasks } = await ask('list', '--limit', '2', '--phase', 'running')
    t.ok(tasks.length >= 2)
    t.match(await ask('cancel', ids[3] ?? ''), { status: 'cancelled' })
    t.match(await ask('list', '--phase', 'over'), { tasks: [{ taskId: ids[3] }] })
    t.strictSame(await stuck(), ['{reason="overdue"} 0', '{reason="left"} 0'])
  })
}
