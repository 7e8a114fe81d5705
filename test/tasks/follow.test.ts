// Streams that are told the status of tasks.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-status-notifications

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../src/access/principal.ts'
import { createLocalBroadcast } from '../../src/store/changes/local-broadcast.ts'
import { createTaskFollowers } from '../../src/tasks/followers.ts'
import { TaskWatches } from '../../src/tasks/watches.ts'
import { listen } from '../helpers/app.ts'
import { until } from '../helpers/deadline.ts'
import type { Message } from '../helpers/request.ts'
import { openStream, post, type AnswerStream } from '../helpers/stream.ts'
import { FakeSink } from '../store/changes/fake-sink.ts'
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

t.test('the tasks of one stream are read one after the other', async (t) => {
  const ids = Array.from({ length: 100 }, (_, index) => `task_${String(index).padStart(22, '0')}`)
  const reads = new Map<string, number>()
  let [running, most] = [0, 0]
  const records = {
    keyOf: (_: unknown, id: string) => ({ id, entry: id }),
    async read ({ id }: { readonly id: string }) {
      most = Math.max(most, ++running)
      reads.set(id, (reads.get(id) ?? 0) + 1)
      await pause(0)
      running--
      return { record: { status: 'working', createdAt: 0, updatedAt: 0, ttlMs: 1000 }, version: '1' }
    }
  }
  const watches = new TaskWatches(createLocalBroadcast())
  const followers = createTaskFollowers({
    records: records as never,
    access: { isVisible: () => true, mayTell: async () => true },
    watches,
    now: () => 0
  })
  const sink = new FakeSink()
  const owned = await followers.findOwn(ANONYMOUS, ids)
  followers.follow(ANONYMOUS, owned, { sink, toMessage: (members) => `{${members}}` })
  await until(() => sink.messages.length === ids.length, 'each task')
  t.equal(most, 1)
  t.ok([...reads.values()].every((count) => count <= 2))
  watches.close()
})
