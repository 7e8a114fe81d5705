// The command `trivet tasks`, and the routes that it uses, against a running service.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { adminOriginOf } from '../../helpers/admin.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { runProgram } from '../../helpers/program.ts'
import { launch, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { startOtlpReceiver } from '../../servers/otlp-receiver.ts'
import { TaskClient, toFiles } from '../../features/tasks/task-client.ts'

const TOKEN = 'a-token-of-more-than-32-characters'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SLEEP = `async (_, ctx) => {
  await ctx.once('first', () => 'a secret of a step'); await ctx.sleep(600_000) }`
const SCHEMA = "inputSchema: { type: 'object', properties: { book: { type: 'string' }, " +
  "pin: { type: 'string', format: 'password' } } }"

const FILES = toFiles({
  sleeps: [`task: 'required', ${SCHEMA}`, SLEEP],
  audited: [`task: 'required', audit: 'values', ${SCHEMA}`, SLEEP],
  ends: ["task: 'required'", "() => 'a secret result'"]
})
const CATALOG = await writeCatalog(t, FILES)
const auditFile = join(await makeFolder(t), 'audit')

const otlp = await startOtlpReceiver(t)
const environment = { TRIVET_CATALOG: CATALOG, TRIVET_ADMIN_PORT: '0', TRIVET_LOG_LEVEL: 'info' }
const guarded = await startService(t, {
  ...environment, TRIVET_ADMIN_TOKEN: TOKEN, TRIVET_AUDIT_FILE: auditFile, TRIVET_OTLP_URL: otlp.url
})
const admin = await adminOriginOf(guarded)
const client = new TaskClient(async (parts) => await post(t, guarded.url, parts))

const run = async (args: readonly string[], token: string = TOKEN) => (
  await runProgram(['tasks', ...args, '--admin', admin], token === '' ? {} : { TRIVET_ADMIN_TOKEN: token })
)
const runJson = async (args: readonly string[]) => JSON.parse((await run([...args, '--json'])).out)

interface Headers { readonly [name: string]: string }

async function send (path: string, headers: Headers, method = 'GET', origin = admin) {
  const response = await fetch(`${origin}${path}`, { method, headers })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

t.test('list has a line for each task, and show has all that is known of one', async (t) => {
  const { taskId } = await client.call('sleeps', { book: 'a secret title' })
  const ended = await client.call('ends')
  await client.until(ended.taskId, 'completed')
  const { out, err, exitCode } = await run(['list'])
  t.strictSame([err, exitCode], ['', 0])
  t.match(out, /^TASK +STATUS +TOOL +SUBJECT +AGE +RUNS +LOSSES +LAST STEP +WAITS FOR\n/)
  t.match(out, new RegExp(`^${taskId}  working +sleeps +anonymous +\\ds +1 +0 +first +sleep until \\d{4}-.*Z$`, 'm'))
  t.match(out, new RegExp(`^${ended.taskId}  completed  ends +anonymous +\\ds +1 +0$`, 'm'))
  const shown = (await run(['show', taskId])).out
  t.match(shown, /^lastStep +first$/m)
  t.match(shown, /^waitsFor +sleep$/m)
  t.notMatch(out + shown, /secret|arguments/)
  t.match(await runJson(['show', taskId]), { taskId, phase: 'waiting', steps: 1, requestId: /-/ })
})

t.test('arguments are shown only if the definition lets the audit log keep them', async (t) => {
  const { taskId } = await client.call('audited', { book: 'moby', pin: '1234' })
  t.strictSame((await runJson(['show', taskId])).arguments, { book: 'moby', pin: '[redacted]' })
  const { tasks } = await runJson(['list'])
  t.notOk(tasks.some((task: object) => 'arguments' in task), 'and never in a list')
})

t.test('a task names the trace of its call', async (t) => {
  const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
  const { response } = await client.send('tools/call', { name: 'sleeps', arguments: {} }, { traceparent })
  t.equal((await runJson(['show', response.result.taskId])).traceId, TRACE)
})

t.test('filters, a limit and a cursor', async (t) => {
  for (let count = 0; count < 5; count++) await client.call('sleeps')
  const { tasks } = await runJson(['list', '--tool', 'sleeps', '--status', 'working'])
  t.ok(tasks.length >= 5 && tasks.every((task: { tool: string }) => task.tool === 'sleeps'))
  t.strictSame((await run(['list', '--older-than', '1h'])).out, 'No task.\n')
  t.strictSame((await run(['list', '--subject', 'nobody'])).out, 'No task.\n')
  t.match(await runJson(['list', '--phase', 'over']), { tasks: [{ tool: 'ends' }] })
  const first = await run(['list', '--limit', '3'])
  const [, cursor = ''] = /^More: --cursor (\S+)$/m.exec(first.out) ?? []
  t.equal(first.out.split('\n').length, 6, 'three tasks')
  const rest = await runJson(['list', '--cursor', cursor])
  t.equal(rest.nextCursor, undefined)
  t.notMatch(first.out, rest.tasks[0].taskId)
})

t.test('cancel ends a task, and the second one says that it has ended', async (t) => {
  const { taskId } = await client.call('sleeps')
  t.match(await runJson(['cancel', taskId]), { taskId, status: 'cancelled' })
  t.match(await client.get(taskId), { status: 'cancelled' })
  const again = await run(['cancel', taskId])
  t.match(again, { out: '', err: /answers 409: The task has ended: cancelled\n$/, exitCode: 1 })
})

t.test('retry refuses a task that sleeps', async (t) => {
  const { taskId } = await client.call('sleeps')
  t.match(await run(['retry', taskId]), { err: /answers 409: The task sleeps until \d{4}-.*Z\n$/, exitCode: 1 })
  t.match((await run(['retry', 'task_0', '--json'])).out, /"code": "request"[^]*There is no task \\"task_0\\"/)
})

t.test('a recording is JSON on standard output, and has values only if asked for', async (t) => {
  const { taskId } = await client.call('sleeps', { book: 'a secret title' })
  const { out, err, exitCode } = await run(['show', taskId, '--recording'])
  t.strictSame([err, exitCode], ['', 0])
  const { fingerprint, trivet, ...recording } = JSON.parse(out)
  t.match([fingerprint, trivet], [/^.{43}$/, /^\d+\.\d+\.\d+/])
  t.strictSame(recording, {
    recording: 1,
    tool: 'sleeps',
    status: 'working',
    values: false,
    journal: [
      { kind: 'step', key: 'first', group: 1, outcome: 'value' },
      { kind: 'sleep', key: '0', group: 2, form: '600000 ms', outcome: 'open' }
    ]
  })
  t.notMatch(out, /secret/)
  const whole = JSON.parse((await run(['show', taskId, '--recording', '--values'])).out)
  t.match(whole, {
    values: true,
    arguments: { book: 'a secret title' },
    principal: { scopes: [] },
    journal: [{ value: 'a secret of a step' }, {}]
  })
  const unknown = await run(['show', 'task_0', '--recording', '--values'])
  t.match(unknown, { out: '', err: /answers 404: There is no task "task_0"/, exitCode: 1 })
  for (const [query, problem] of [
    ['recording=yes', /recording must be 1/], ['values=1', /values=1 needs recording=1/]
  ] as const) {
    const { status, body } = await send(`/tasks/${taskId}?${query}`, bearer(TOKEN))
    t.match([status, body], [400, problem])
  }
})

t.test('with a token, every route of tasks needs it', async (t) => {
  const { taskId } = await client.call('sleeps')
  for (const headers of [{}, bearer('wrong'), bearer(`${TOKEN}x`), { authorization: TOKEN }, bearer('')]) {
    for (const [method, path] of [
      ['GET', '/tasks'], ['GET', `/tasks/${taskId}`], ['GET', `/tasks/${taskId}?recording=1&values=1`],
      ['POST', `/tasks/${taskId}/cancel`], ['POST', `/tasks/${taskId}/retry`]
    ] as const) {
      const { status, body, headers: answered } = await send(path, headers, method)
      t.equal(status, 401)
      t.equal(answered.get('www-authenticate'), 'Bearer')
      t.match(body, /TRIVET_ADMIN_TOKEN/)
      t.notMatch(body, TOKEN)
    }
  }
  t.match(await client.get(taskId), { status: 'working' })
  t.equal((await send('/readyz', {})).status, 200, 'but health and metrics')
  t.equal((await send('/metrics', {})).status, 200)
  t.match(await run(['list'], ''), { exitCode: 1, err: /answers 401: Send the token of TRIVET_ADMIN_TOKEN/ })
  const page = await fetch(`${admin}/tasks/${taskId}/cancel`, {
    method: 'POST', headers: { ...bearer(TOKEN), origin: 'https://evil.example' }
  })
  t.equal(page.status, 403, 'a web page needs more than the token')
})

t.test('no route reads a body, whatever it is', async (t) => {
  for (const [type, body] of [
    ['application/json', ''], ['application/json', '{'], ['text/x', 'x'], ['text/x', 'x'.repeat(10_000_000)]
  ] as const) {
    const headers = { ...bearer(TOKEN), 'content-type': type }
    const { status } = await fetch(`${admin}/tasks/task_0/cancel`, { method: 'POST', headers, body })
    t.equal(status, 404, `${type} ${body.slice(0, 10)}`)
  }
  t.notMatch(guarded.stdout(), 'an operator was not answered')
})

t.test('the command refuses what it cannot use, and prints no password', async (t) => {
  const at = async (url: string) => await runProgram(['tasks', 'list', '--admin', url], {})
  const { err } = await at('http://ops:hunter2@127.0.0.1:1')
  t.match(err, /--admin must have no user and no password/)
  t.notMatch(err, 'hunter2')
  t.match(await run(['show', '..']), { exitCode: 2, err: /"\.\." is no id of a task/ })
  const server = createServer((_, response) => response.end('{"tasks":[null],"nextCursor":"same"}'))
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  const { port } = server.address() as AddressInfo
  t.match((await at(`http://127.0.0.1:${port}`)).err, /answers the same page again and again/)
})

t.test('each change and each refusal is in the log and in the audit log, without the token', async (t) => {
  const { taskId } = await client.call('sleeps')
  const { requestId } = await runJson(['cancel', taskId])
  await run(['show', taskId, '--recording'])
  await run(['show', taskId, '--recording', '--values'])
  await send('/tasks', bearer('another'))
  await guarded.stop()
  const linesOf = (text: string, part: string) => (
    text.split('\n').filter((line) => line.includes(part)).map((line) => JSON.parse(line))
  )
  const log = linesOf(guarded.stdout(), 'an operator')
  const audit = linesOf(await readFile(auditFile, 'utf8'), '"operator"')
  const done = {
    action: 'cancel', outcome: 'ok', name: 'sleeps', address: '127.0.0.1', token: /^[0-9a-f]{8}$/
  }
  const line = log.find(({ reqId }) => reqId === requestId)
  t.match(line, { ...done, level: 30, msg: 'an operator changed a task' })
  t.match(audit.find((line) => line.requestId === requestId), { ...done, event: 'operator' })
  const read = { ...done, action: 'values' }
  const reads = log.filter(({ reqId, action }) => reqId === requestId && action !== 'cancel')
  t.equal(reads.length, 1, 'a recording without values is no act')
  t.match(reads, [{ ...read, level: 30, msg: 'an operator read the values of a task' }])
  t.match(audit.filter((line) => line.requestId === requestId), [{}, { ...read, event: 'operator' }])
  const isDenied = ({ outcome }: { outcome?: string }) => outcome === 'denied'
  const denied = { action: '/tasks', address: '127.0.0.1', requests: 1 }
  t.match(log.find(isDenied), { ...denied, msg: 'an operator was refused' })
  t.match(audit.find(isDenied), denied)
  const denials = log.filter(isDenied).length
  t.ok(denials <= 4, `${denials} lines of more than 25 requests without the token`)
  t.ok(audit.some(({ outcome }) => outcome === 'invalid'), 'and a change that was not possible')
  t.notMatch(guarded.stdout() + JSON.stringify(audit), new RegExp(`${TOKEN}|${taskId}`))
})

t.test('without a token tasks are shown, and nothing is changed', async (t) => {
  const open = await startService(t, environment)
  const origin = await adminOriginOf(open)
  const { taskId } = await new TaskClient(async (parts) => await post(t, open.url, parts)).call('sleeps')
  t.match(JSON.parse((await send('/tasks', {}, 'GET', origin)).body), { tasks: [{ taskId }] })
  t.equal((await send(`/tasks/${taskId}`, {}, 'GET', origin)).status, 200)
  t.equal((await send(`/tasks/${taskId}?recording=1`, {}, 'GET', origin)).status, 200)
  for (const headers of [{}, bearer(TOKEN), bearer('')]) {
    const values = await send(`/tasks/${taskId}?recording=1&values=1`, headers, 'GET', origin)
    t.match([values.status, values.body], [403, /Values are not shown here: set TRIVET_ADMIN_TOKEN/])
    t.notMatch(values.body, /secret|journal/)
    for (const action of ['cancel', 'retry']) {
      const { status, body } = await send(`/tasks/${taskId}/${action}`, headers, 'POST', origin)
      t.match([status, body], [403, /cannot be changed here: set TRIVET_ADMIN_TOKEN for the service/])
    }
  }
  const { body } = await send(`/tasks/${taskId}`, {}, 'GET', origin)
  t.match(JSON.parse(body), { status: 'working' })
  for (const [query, problem] of [
    ['status=done', /status must be one of working/],
    ['phase=x', /phase must be/],
    ['limit=501', /limit must/],
    ['olderThanMs=-1', /olderThanMs must/], ['tol=a', /tol is none of status, phase, undo, tool/],
    ['cursor=nonsense', /this cursor is of no page/]
  ] as const) {
    const answer = await send(`/tasks?${query}`, {}, 'GET', origin)
    t.match([answer.status, answer.body], [400, problem], query)
  }
  const asClient = await send('/tasks', {}, 'GET', new URL(open.url).origin)
  t.equal(asClient.status, 404, 'clients have no such route')
})

t.test('arguments that cannot be used, and addresses that are none', async (t) => {
  const cases: ReadonlyArray<readonly [args: readonly string[], err: RegExp]> = [
    [['list'], /required option '--admin <url>' not specified/],
    [['list', 'task_1', '--admin', 'http://127.0.0.1:1'], /list takes no id/],
    [['cancel', '--admin', 'http://127.0.0.1:1'], /cancel needs an id/],
    [['stop', '--admin', 'http://127.0.0.1:1'], /Allowed choices are list, show, cancel, retry/],
    [['list', '--admin', 'nowhere'], /--admin must be an http:\/\/ or https:\/\/ URL/],
    [['list', '--older-than', '5', '--admin', 'http://127.0.0.1:1'], /--older-than must be a time such as/],
    [['list', '--recording', '--admin', 'http://127.0.0.1:1'], /--recording is a flag of tasks show/],
    [['show', 'task_1', '--values', '--admin', 'http://127.0.0.1:1'], /--values needs --recording/],
    [['list', '--limit', '0', '--admin', 'http://127.0.0.1:1'], /--limit must be a number/]
  ]
  for (const [args, message] of cases) {
    const { err, exitCode } = await runProgram(['tasks', ...args])
    t.match([err, exitCode], [message, 2])
  }
  const closed = await runProgram(['tasks', 'list', '--admin', 'http://127.0.0.1:9'])
  t.match([closed.err, closed.exitCode], [/^Cannot use http:\/\/127\.0\.0\.1:9/, 1])
})

t.test('the built command reads the token from its environment', async (t) => {
  const service = await startService(t, { ...environment, TRIVET_ADMIN_TOKEN: TOKEN })
  const origin = await adminOriginOf(service)
  const list = async (token: string) => {
    const { exited, stdout } = launch(
      { TRIVET_ADMIN_TOKEN: token }, { args: ['tasks', 'list', '--admin', origin] }
    )
    return [await exited, stdout()]
  }
  t.strictSame(await list(TOKEN), [0, 'No task.\n'])
  t.strictSame(await list('another'), [1, ''])
})
