// `trivet call` where a call goes on after its answer, and the client has no tasks.

import { once } from 'node:events'
import { createServer, request as sendUpstream, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import t from 'tap'
import { listen } from '../../helpers/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { runProgram } from '../../helpers/program.ts'
import { launch } from '../../helpers/service.ts'
import { serveTools, toFiles } from '../../features/tasks/task-client.ts'

const SIZE = "elicit.form({ message: 'Which size?', schema: { type: 'object', properties: { " +
  "size: { type: 'string', enum: ['S', 'L'], description: 'Of the cake' }, tiers: { type: 'integer' } }, " +
  "required: ['size'] } })"
const TOOLS = {
  bakes: ["task: 'allowed'", `async (_, ctx) => {
    ctx.progress(1, 2, 'in the oven'); await ctx.sleep(1000); return 'lemon cake' }`],
  later: ["task: 'allowed'", `async (_, ctx) => {
    await ctx.sleep(1000); return (await ctx.ask({ size: ${SIZE} })).size.content }`],
  orders: ['relayQuestions: true', `async (_, ctx) => {
    const { size } = await ctx.ask({ size: ${SIZE} })
    return size.action === 'accept' ? size.content : size.action }`],
  pays: ["task: 'allowed'", `async (_, ctx) => {
    const { pay } = await ctx.ask({ pay: elicit.url({ message: 'Pay', url: 'https://pay.example/1' }) })
    return 'paid: ' + pay.action }`],
  breaks: ["task: 'allowed'", `async (_, ctx) => {
    await ctx.sleep(1000); throw new Error('oven is cold') }`],
  kneads: ["task: 'allowed'", `async (_, ctx) => {
    ctx.progress(1, 2, 'mixed'); await ctx.sleep(1000)
    ctx.progress(2, 2, 'kneaded'); await ctx.sleep(2500); return 'dough' }`],
  rests: ["task: 'allowed'", `async (_, ctx) => {
    ctx.progress(1); await ctx.sleep(500); ctx.progress(2, 2, 'in the fridge'); await ctx.sleep(600_000) }`],
  refuses: ["task: 'allowed'", "async (_, ctx) => { await ctx.sleep(1000); throw new ToolError('No.') }"],
  strict: ["task: 'allowed'", `async (_, ctx) => (await ctx.ask({ size: ${SIZE} })).size.action`]
} as const

const modern = await listen(await serveTools(t, TOOLS, { taskWaitMs: 100 }))

/** The same service, without `server/discover`: clients of the modern era open a session. */
async function hideDiscovery (request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readAll(request)
  if (body.includes('"server/discover"')) response.writeHead(404).end()
  else {
    const { method = '', headers: { host, connection, 'content-length': length, ...headers } } = request
    const upstream = sendUpstream(modern, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    upstream.on('error', () => response.destroy()).end(body)
    response.on('close', () => upstream.destroy())
  }
}
const proxy = createServer((request, response) => { hideDiscovery(request, response).catch(t.threw) })
proxy.listen(0, '127.0.0.1')
await once(proxy, 'listening')
t.teardown(() => { proxy.closeAllConnections(); proxy.close() })
const earlier = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`
const folder = await writeCatalog(t, toFiles(TOOLS))

const PLACES = [
  ['a folder', undefined], ['a service', modern], ['a service of earlier revisions', earlier]
] as const

for (const [place, url] of PLACES) {
  const call = async (args: readonly string[], typed?: readonly string[]) => {
    const environment = { TRIVET_CATALOG: folder, TRIVET_TASK_WAIT_MS: '100' }
    const first = url === undefined ? [] : [url]
    const { out, err, exitCode } = await runProgram(['call', ...first, ...args], environment, typed)
    return { out, err, exitCode }
  }

  t.test(`--plain-host follows a call: ${place}`, async (t) => {
    const { out, err, exitCode } = await call(['bakes', '--plain-host'])
    t.strictSame([out, exitCode], ['lemon cake\n', 0])
    const text = 'bakes is still at work: in the oven. To get its result, call the tool continue_call with'
    t.ok(err.startsWith(`progress 1 of 2: in the oven\n${text}`), err)
    const refused = await call(['refuses', '--plain-host', '--json'])
    t.match(JSON.parse(refused.out), { text: 'No.', isError: true })
    t.equal(refused.exitCode, 1)
  })

  t.test(`--plain-host passes on answers: ${place}`, async (t) => {
    const answered = await call(['orders', '--plain-host', '--answer', 'size={"size":"L"}'])
    t.strictSame([JSON.parse(answered.out), answered.exitCode], [{ size: 'L' }, 0])
    t.match(answered.err, /orders asks the user\.[^]*Question "size": Which size\?\n- "size" \(required\): one of/)
    const typed = await call(['orders', '--plain-host'], ['2', '3'])
    t.strictSame(JSON.parse(typed.out), { size: 'L', tiers: 3 })
    t.match(typed.err, 'size: Of the cake (1 S, 2 L) > tiers (integer) [none] > ')
    t.strictSame((await call(['orders', '--plain-host'], ['!decline'])).out, 'decline\n')
    t.match(await call(['orders', '--plain-host'], ['!cancel']), { out: /was cancelled/, exitCode: 1 })
    const unanswered = await call(['orders', '--plain-host'])
    t.match(unanswered, { err: /Answer it at a terminal, or with --answer/, exitCode: 2 })
    const paid = await call(['pays', '--plain-host'], [''])
    t.match(paid, { out: 'paid: accept\n', err: /https:\/\/pay\.example\/1/ })
  })

  t.test(`--plain-host says what such a host lacks: ${place}`, async (t) => {
    const { out, err, exitCode } = await call(['strict', '--plain-host'])
    t.equal(exitCode, 1)
    t.match(out + err, /elicitation/)
  })

  t.test(`a call is followed without the flag too: ${place}`, async (t) => {
    t.strictSame(await call(['bakes']), {
      out: 'lemon cake\n', err: 'progress 1 of 2: in the oven\n', exitCode: 0
    })
    // A service of earlier revisions tells progress only while a request waits for the call.
    const later = url === earlier ? '(?:progress 2 of 2: kneaded\n)?' : 'progress(?: 2 of 2)?: kneaded\n'
    t.match(await call(['kneads']), { err: new RegExp(`^progress 1 of 2: mixed\n${later}$`), out: 'dough\n' })
    const { out } = await call(['later'], ['S', ''])
    t.strictSame(JSON.parse(out), { size: 'S' })
    t.equal((await call(['strict'], ['!decline'])).out, 'decline\n')
  })
}

t.test('Ctrl-C says that the task of a service goes on', async (t) => {
  const { child, stderr, exited } = launch({}, { args: ['call', modern, 'rests'] })
  await until(() => stderr().includes('progress: in the fridge'), 'the task')
  child.kill('SIGINT')
  t.equal(await exited, 130)
  t.match(stderr(), /\nThe task goes on: (task_\S+)\. The operator can end it: npx trivet tasks cancel \1\n$/)
})

for (const flags of [[], ['--plain-host']]) {
  t.test(`a call of a folder that fails late has its cause: ${flags.join()}`, async (t) => {
    const environment = { TRIVET_CATALOG: folder, TRIVET_TASK_WAIT_MS: '100' }
    const cause = /Internal error: Error: oven is cold at .*tools\/breaks\.ts:4:\d+/
    t.match((await runProgram(['call', 'breaks', ...flags], environment)).err, cause)
    const { error } = JSON.parse((await runProgram(['call', 'breaks', '--json', ...flags], environment)).out)
    t.match(error.message, cause)
  })
}
