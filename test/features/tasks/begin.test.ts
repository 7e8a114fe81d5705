// Which calls become tasks, and what their clients are answered.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../../helpers/app.ts'
import { send } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { named, serveTools, TaskClient } from './task-client.ts'

const ALLOWED = "task: 'allowed'"
const REQUIRED = "task: 'required'"
const SECONDS = "inputSchema: { type: 'object', properties: { ms: { type: 'number' } } }"
const WAIT = '({ ms = 0 }) => new Promise((done) => setTimeout(done, ms, "waited " + ms))'
const FORM = "elicit.form({ message: 'Who?', schema: " +
  "{ type: 'object', properties: { name: { type: 'string' } } } })"

const TOOLS = {
  never: [SECONDS, WAIT],
  allowed: [`${ALLOWED}, ${SECONDS}`, WAIT],
  required: [`${REQUIRED}, ${SECONDS}`, WAIT],
  quick: [REQUIRED, "() => 'at once'"],
  breaks: [REQUIRED, "() => { throw new Error('a fault') }"],
  refuses: [REQUIRED, "() => { throw new ToolError('No.') }"],
  denies: [`${REQUIRED}, authorize: () => false`, "() => 'never'"],
  sleeps: [ALLOWED, "async (_, ctx) => { await ctx.sleep(60_000); return 'awake' }"],
  naps: [ALLOWED, "async (_, ctx) => { await ctx.sleep(5); return 'awake' }"],
  asks: [
    REQUIRED, `async (_, ctx) => { const { who } = await ctx.ask({ who: ${FORM} }); return who.content?.name }`
  ]
} as const

t.test('a call that ends in the grace time is answered with its result', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS))
  for (const name of ['never', 'allowed']) {
    t.match(await client.call(name), { resultType: 'complete', content: [{ text: 'waited 0' }] }, name)
  }
  t.match(await client.call('naps'), { resultType: 'complete', content: [{ text: 'awake' }] })
})

t.test('a call that takes longer becomes a task, and any request finds it at once', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS))
  const created = await client.call('allowed', { ms: 300 })
  t.match(created, { resultType: 'task', status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1000 })
  t.match(created.taskId, /^task_[\w-]{22}$/)
  const { taskId } = created
  t.match(await client.get(taskId), { resultType: 'complete', status: 'working', taskId })
  const ended = await client.until(created.taskId, 'completed')
  t.match(ended.result, { content: [{ type: 'text', text: 'waited 300' }] })
  t.equal(ended.ttlMs, 7_200_000, 'it is kept for longer after its end')
})

t.test('a long sleep makes a task at once', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS, { constants: { taskGraceMs: 60_000 } }))
  t.match(await client.call('sleeps'), { resultType: 'task' })
})

t.test('a tool that requires tasks makes one of each call, however it ends', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS))
  for (const [name, status, more] of [
    ['required', 'completed', { result: { content: [{ text: 'waited 0' }] } }],
    ['quick', 'completed', { result: { content: [{ text: 'at once' }] } }],
    ['refuses', 'completed', { result: { isError: true, content: [{ text: 'No.' }] } }],
    ['breaks', 'failed', { error: { code: -32603, message: 'Internal error' } }]
  ] as const) {
    const created = await client.call(name)
    t.match(created, { resultType: 'task', status: 'working' }, name)
    t.match(await client.until(created.taskId, status), more, name)
  }
})

t.test('a refused call is no task', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS))
  t.match(await client.call('denies'), { resultType: 'complete', isError: true })
  t.match(await client.call('required', { ms: 'long' }), { resultType: 'complete', isError: true })
  t.match(await client.call('missing'), { code: -32602 })
})

t.test('a question in the grace time is asked before there is a task', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS))
  const asked = await client.call('asks')
  t.match(asked, { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create' } } })
  t.notOk('taskId' in asked)
  const answer = { action: 'accept', content: { name: 'Ada' } }
  const { requestState } = asked
  const created = await client.call('asks', {}, { inputResponses: { who: answer }, requestState })
  t.match(created, { resultType: 'task' })
  t.match(await client.until(created.taskId, 'completed'), { result: { content: [{ text: 'Ada' }] } })
})

t.test('a client without the extension gets no task, and is told if it needs it', async (t) => {
  const app = await serveTools(t, TOOLS)
  const client = new TaskClient(app, { capabilities: { elicitation: {} } as never })
  t.match(
    await client.call('allowed', { ms: 100 }), { resultType: 'complete', content: [{ text: 'waited 100' }] }
  )
  const { status, response } = await client.send('tools/call', { name: 'required', arguments: {} })
  t.equal(status, 400)
  t.strictSame(response.error, {
    code: -32021,
    message: 'The client lacks a capability that this request needs: io.modelcontextprotocol/tasks. ' +
      'Its answer is a task.',
    data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  })
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    t.match(await client.ask(method, { taskId: 'x', inputResponses: {} }), { code: -32021 }, method)
  }
  t.match(await client.ask('subscriptions/listen', { notifications: { taskIds: [] } }), { code: -32021 })
})

t.test('for a session each of these tools is an ordinary one', async (t) => {
  const session = await openSession(t, await listen(await serveTools(t, TOOLS)), {
    capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  })
  for (const name of ['allowed', 'required']) {
    const { result } = await session.call(name, { ms: 100 })
    t.match(result, { content: [{ text: 'waited 100' }] }, name)
  }
})

t.test('discovery declares the extension if a tool may make tasks', async (t) => {
  const capabilities = async (tools: Parameters<typeof serveTools>[1]) => {
    const { response } = await send(await serveTools(t, tools), { method: 'server/discover' })
    return response.result.capabilities.extensions
  }
  t.strictSame(await capabilities({ allowed: TOOLS.allowed }), { 'io.modelcontextprotocol/tasks': {} })
  t.equal(await capabilities({ never: TOOLS.never }), undefined)
})

t.test('a caller has a limit of tasks, and the others have theirs', async (t) => {
  const app = await serveTools(t, TOOLS, { maxTasksPerCaller: 2, ...named })
  const ada = new TaskClient(app, { user: 'ada' })
  for (const name of ['sleeps', 'sleeps']) t.match(await ada.call(name), { resultType: 'task' })
  const limit = /Too many unfinished tasks of yours \(2\)\./
  t.match(await ada.call('sleeps'), { isError: true, content: [{ text: limit }] }, 'a sleep needs a task')
  t.match(await ada.call('quick'), { isError: true, content: [{ text: limit }] })
  t.match(
    await ada.call('allowed', { ms: 200 }), { resultType: 'complete', content: [{ text: 'waited 200' }] },
    'a call that needs no task is answered with its result'
  )
  t.match(await new TaskClient(app, { user: 'bob' }).call('sleeps'), { resultType: 'task' })
})

t.test('a task that has ended leaves its place to another one, up to ten times as many', async (t) => {
  const ada = new TaskClient(await serveTools(t, TOOLS, { maxTasksPerCaller: 1, ...named }), { user: 'ada' })
  const { taskId: sleeping } = await ada.call('sleeps')
  t.match(await ada.call('quick'), { isError: true })
  await ada.cancel(sleeping)
  for (let count = 1; count < 10; count++) {
    const { taskId, ...rest } = await ada.call('quick')
    if (taskId === undefined) t.fail(`task ${count}: ${JSON.stringify(rest)}`)
    await ada.until(taskId, 'completed')
    // The place is left in the moments after the end.
    await pause(20)
  }
  t.match(await ada.call('quick'), {
    isError: true, content: [{ text: /Too many tasks and results of tasks of yours \(10\)\./ }]
  })
  t.match(await ada.get(sleeping), { status: 'cancelled' }, 'and the first one is still kept')
})

t.test('a definition says only what has a meaning', async (t) => {
  for (const [options, problem] of [
    ['ttlMs: 5000', /ttlMs: needs task/],
    ["task: 'sometimes'", /task/],
    ["task: 'allowed', ttlMs: 10", /ttlMs.*1000/],
    ["task: 'allowed', onReplicaLoss: 'retry'", /onReplicaLoss/],
    ["task: 'allowed', onDeploy: 'retry'", /onDeploy/],
    ["onDeploy: 'fail'", /onDeploy: needs task/],
    ["task: 'allowed', dedupe: true, annotations: { idempotentHint: true }", /dedupe.*cannot be used with task/]
  ] as const) {
    await t.rejects(serveTools(t, { odd: [options, '() => 1'] }), { message: problem }, options)
  }
})
