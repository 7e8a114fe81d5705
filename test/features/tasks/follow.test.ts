// Streams that are told the status of tasks.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-status-notifications

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { ClientGone, Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { createTaskFollowers } from '../../../src/features/tasks/clients/followers.ts'
import { TaskWatches } from '../../../src/features/tasks/runs/watches.ts'
import { listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import type { Message } from '../../helpers/request.ts'
import { openStream, post, type AnswerStream } from '../../helpers/stream.ts'
import { FakeSink } from '../../platform/store/changes/fake-sink.ts'
import { named, serveTools, TaskClient, TASKS } from './task-client.ts'

const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', properties: {} } })"
const TOOLS = {
  works: ["task: 'allowed'", `async (_, ctx) => { ctx.log.error('loud'); ctx.progress(1, 2, 'busy')
    await ctx.sleep(1000); ctx.progress(2, 2, 'asking'); await ctx.ask({ go: ${FORM} })
    return 'done' }`],
  sleeps: ["task: 'allowed'", 'async (_, ctx) => { await ctx.sleep(60_000) }']
} as const

async function follow (
  t: Test, url: string, taskIds: readonly string[], user = 'ada'
): Promise<AnswerStream> {
  return await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { taskIds } },
    id: 'sub',
    headers: { authorization: user },
    meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS, progressToken: 1 }
  })
}

t.test('a stream is told each status as tasks/get has it, and nothing else', async (t) => {
  const app = await serveTools(t, TOOLS, named)
  const url = await listen(app)
  const ada = new TaskClient(async (parts) => await post(t, url, parts), { user: 'ada' })
  const { taskId } = await ada.call('works')
  const stream = await follow(t, url, [taskId, taskId, 'task_0000000000000000000000', 'odd'])
  const acknowledged = await stream.next()
  t.strictSame(acknowledged.params.notifications, { taskIds: [taskId] }, 'it agrees to tasks of the caller')
  const [first, asking] = [await stream.next(), await stream.next()]
  t.match(first, { method: 'notifications/tasks', params: { taskId, status: 'working' } })
  t.match(asking.params, { taskId, status: 'input_required', statusMessage: 'asking' })
  const { _meta, resultType, ...task } = await ada.get(taskId)
  const { _meta: meta, ...told } = asking.params
  t.strictSame(told, task, 'the same as tasks/get')
  t.strictSame(meta, { 'io.modelcontextprotocol/subscriptionId': 'sub' })
  await ada.update(taskId, { go: { action: 'decline' } })
  const rest: Message[] = []
  while (rest.at(-1)?.params.status !== 'completed') rest.push(await stream.next())
  t.match(rest.at(-1).params.result, { content: [{ text: 'done' }] })
  t.strictSame([...new Set(stream.messages.map(({ method }) => method))].toSorted(), [
    'notifications/subscriptions/acknowledged', 'notifications/tasks'
  ])
})

t.test('a stream hears nothing of the tasks of others', async (t) => {
  const app = await serveTools(t, TOOLS, named)
  const url = await listen(app)
  const ada = new TaskClient(async (parts) => await post(t, url, parts), { user: 'ada' })
  const { taskId } = await ada.call('sleeps')
  const stream = await follow(t, url, [taskId], 'bob')
  t.strictSame((await stream.next()).params.notifications, { taskIds: [] })
  await ada.cancel(taskId)
  await pause(100)
  t.equal(stream.messages.length, 1)
})

t.test('one stream follows a hundred tasks at most', async (t) => {
  const url = await listen(await serveTools(t, TOOLS, named))
  const answer = await follow(t, url, Array.from({ length: 101 }, (_, index) => `task_${index}`))
  await answer.ended()
  t.match(answer.response.error, { code: -32602, message: /taskIds.*100/ })
})

interface FollowedOptions { readonly maxFollowed?: number, read? (id: string): void | Promise<void> }

/** Followers of tasks that work, and counts of the records that they open. */
function openFollowers (t: Test, { maxFollowed, read }: FollowedOptions = {}) {
  const opened = new Map<string, number>()
  const records = {
    keyOf: (_: unknown, id: string) => ({ id, entry: id }),
    exists: async () => true,
    async read ({ id }: { readonly id: string }) {
      opened.set(id, (opened.get(id) ?? 0) + 1)
      await read?.(id)
      return { record: { status: 'working', createdAt: 0, updatedAt: 0, ttlMs: 1000 }, version: '1' }
    }
  }
  const watches = new TaskWatches(createLocalBroadcast())
  t.teardown(() => watches.close())
  const followers = createTaskFollowers({
    records: records as never,
    access: { isVisible: () => true, mayTell: async () => true },
    watches,
    maxFollowed,
    now: () => 0
  })
  return { followers, opened }
}

const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `task_${String(i).padStart(22, '0')}`)
const toMessage = (members: string) => `{${members}}`

t.test('the tasks of one stream are read one after the other', async (t) => {
  let [running, most] = [0, 0]
  const { followers, opened } = openFollowers(t, {
    async read () {
      most = Math.max(most, ++running)
      await pause(0)
      running--
    }
  })
  const sink = new FakeSink()
  const owned = await followers.findOwn({ principal: ANONYMOUS }, idsOf(100), new Lifetime())
  followers.follow({ principal: ANONYMOUS }, owned, { sink, toMessage })
  await until(() => sink.messages.length === 100, 'each task')
  t.equal(most, 1)
  t.ok([...opened.values()].every((count) => count <= 2))
})

t.test('twenty streams whose clients do not read open few records, one in each turn', async (t) => {
  const sender = { principal: { ...ANONYMOUS, subject: 'mallory' } }
  let [turns, openedInTurn, most] = [0, 0, 0]
  const { followers, opened } = openFollowers(t, { read () { most = Math.max(most, ++openedInTurn) } })
  const total = () => [...opened.values()].reduce((sum, count) => sum + count, 0)
  let isOver = false
  const watchTurns = (): void => {
    turns++
    openedInTurn = 0
    if (!isOver) setImmediate(watchTurns)
  }
  watchTurns()
  const ids = idsOf(100)
  // Without the records of the first stream each of the twenty would open a hundred.
  await followers.findOwn(sender, ids, new Lifetime())
  await Promise.all(Array.from({ length: 20 }, async () => {
    const owned = await followers.findOwn(sender, ids, new Lifetime())
    const sink = new FakeSink()
    sink.isBlocked = true
    followers.follow(sender, owned, { sink, toMessage })
  }))
  isOver = true
  t.ok(total() <= 120, `${total()} records`)
  t.ok(most <= 2, `${most} in one turn`)
  t.ok(turns > 2000, `${turns} turns`)
})

t.test('a caller who follows one task does not wait for the tasks of others', async (t) => {
  const { followers, opened } = openFollowers(t)
  const mallory = { principal: { ...ANONYMOUS, subject: 'mallory' } }
  const ada = { principal: { ...ANONYMOUS, subject: 'ada' } }
  const all = followers.findOwn(mallory, idsOf(1000), new Lifetime())
  await until(() => opened.size > 10, 'the first tasks')
  const before = opened.size
  await followers.findOwn(ada, ['task_ofada'], new Lifetime())
  t.ok(opened.size - before <= 8, `${opened.size - before} tasks`)
  t.equal((await all).length, 1000)
})

t.test('a caller may follow a share of what a replica follows, until the streams close', async (t) => {
  const { followers } = openFollowers(t, { maxFollowed: 400 })
  const mallory = { principal: { ...ANONYMOUS, subject: 'mallory' } }
  const lifetimes = [new Lifetime(), new Lifetime()]
  for (const lifetime of lifetimes) await followers.findOwn(mallory, idsOf(100), lifetime)
  await t.rejects(followers.findOwn(mallory, idsOf(1), new Lifetime()), {
    code: 503, message: /^Too many tasks that streams follow of yours on this replica \(200\)\. Close a stream\.$/
  })
  const ada = { principal: { ...ANONYMOUS, subject: 'ada' } }
  t.equal((await followers.findOwn(ada, idsOf(1), new Lifetime())).length, 1, 'others may')
  lifetimes[0]?.end()
  t.equal((await followers.findOwn(mallory, idsOf(1), new Lifetime())).length, 1)
})

t.test('a client that is gone has no further tasks read', async (t) => {
  const lifetime = new Lifetime()
  const { followers, opened } = openFollowers(t, {
    read () { if (opened.size === 5) lifetime.stop(new ClientGone()) }
  })
  await t.rejects(followers.findOwn({ principal: ANONYMOUS }, idsOf(100), lifetime), new ClientGone())
  t.equal(opened.size, 5)
})
