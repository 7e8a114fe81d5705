// The console of `trivet dev` on its built service: who may reach it, whom it picks, and what it says.

import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { TASKS_CAPABILITY } from '../../../src/platform/protocol/tasks.ts'
import { toolModule, writeByRename, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { runService, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'

const WHOAMI = `import { defineTool } from 'trivet'
export default defineTool({
  name: 'whoami', description: 'Says who calls.', annotations: { readOnlyHint: true },
  run (_, { principal: { subject, clientId, scopes, claims } }) {
    return { subject, clientId, scopes: [...scopes], claims }
  }
})`
const SCOPED = WHOAMI.replace("'whoami'", "'scoped'")
  .replace('description', "scopes: ['books:write'], description")
const FILES: Files = { 'tools/whoami.ts': WHOAMI, 'tools/scoped.ts': SCOPED }

const HAS_TASKS = { 'io.modelcontextprotocol/clientCapabilities': TASKS_CAPABILITY }

interface Answer { readonly status: number, readonly headers: object, readonly text: string }

/** fetch sets Host and Origin by itself. */
async function get (
  url: URL, headers: { readonly [name: string]: string } = {}, body?: string
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { headers, ...body !== undefined && { method: 'POST' } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Resolves to the head of the answer. */
async function getByHttp10 ({ hostname, port, pathname }: URL): Promise<string> {
  const socket = connect(Number(port), hostname)
  socket.end(`GET ${pathname} HTTP/1.0\r\nHost: localhost:${port}\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

async function openConsole (
  t: Test, { files = FILES, args = [], environment = {} }: {
    readonly files?: Files
    readonly args?: readonly string[]
    readonly environment?: { readonly [name: string]: string }
  } = {}
) {
  const catalog = await writeCatalog(t, files)
  const service = await startService(t, environment, { args: ['dev', catalog, ...args] })
  const at = (path: string) => new URL(path, service.url)
  const pick = async (caller: object | string) => await get(
    at('/console/callers'), { 'content-type': 'application/json' },
    typeof caller === 'string' ? caller : JSON.stringify(caller)
  )
  return {
    catalog,
    service,
    at,
    pick,
    readState: async () => JSON.parse((await get(at('/console/state'))).text),
    async tokenOf (caller: object): Promise<string> { return JSON.parse((await pick(caller)).text).token },
    async call (name: string, token?: string) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return await post(t, service.url, { method: 'tools/call', params: { name }, headers, meta: HAS_TASKS })
    }
  }
}

/** For the tests that change nothing. */
const plain = await openConsole(t)

t.test('is served at the root, with a policy that lets nothing else in', async (t) => {
  const { at, service } = plain
  const page = await get(at('/'))
  t.equal(page.status, 200)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; " +
      "connect-src 'self'; img-src 'self' data: blob:; media-src data: blob:; font-src 'self'; " +
      `frame-src http://localhost:${at('/').port}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`
  })
  const other = new URL(at('/').href.replace('127.0.0.1', 'localhost'))
  t.match((await get(other)).headers, { 'content-security-policy': / frame-src http:\/\/127\.0\.0\.1:\d+;/ })
  for (const name of ['page.js', 'page.css']) t.equal((await get(at(`/console/${name}`))).status, 200, name)
  for (const name of ['index.html', '..%2f..%2fpackage.json', 'nothing.js']) {
    t.equal((await get(at(`/console/${name}`))).status, 404, name)
  }
  await until(() => service.stdout().includes(`the console is at ${at('/').href}`), 'its address')
})

t.test('answers this machine only, and no other page', async (t) => {
  const { at, tokenOf } = await openConsole(t, { environment: { TRIVET_ALLOWED_HOSTS: 'tunnel.example' } })
  const { port } = at('/')
  const outside = [
    { host: 'tunnel.example' }, { host: `attacker.example:${port}` }, { 'x-forwarded-for': '203.0.113.7' },
    { 'x-forwarded-host': 'tunnel.example' }, { forwarded: 'for=203.0.113.7' }, { via: '1.1 proxy' },
    { 'cf-connecting-ip': '203.0.113.7' }, { 'x-forwarded-proto': 'https' }, { 'x-client-ip': '203.0.113.7' }
  ]
  for (const path of ['/', '/console/page.js', '/console/state', '/console/sandbox?csp=null']) {
    for (const headers of outside) {
      t.match(await get(at(path), headers), { status: 403, text: /^The console answers / }, JSON.stringify(headers))
    }
  }
  t.match(await getByHttp10(at('/console/state')), /^HTTP\/1\.1 403 /, 'nginx speaks HTTP 1.0 by default')
  const others = [
    { origin: 'http://localhost:5173' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' }, { origin: `http://localhost:${port}` }
  ]
  for (const headers of others) {
    t.equal((await get(at('/console/state'), headers)).status, 403, JSON.stringify(headers))
    const json = { 'content-type': 'application/json', ...headers }
    t.equal((await get(at('/console/callers'), json, '{"scopes":[]}')).status, 403, JSON.stringify(headers))
  }
  t.equal((await get(at('/console/state'), { origin: at('/').origin })).status, 200)
  t.ok(await tokenOf({ scopes: [] }))
})

t.test('picks callers, whose tokens count at the endpoint', async (t) => {
  const { call, tokenOf, pick } = plain
  const ada = { subject: 'ada', clientId: 'desk', scopes: ['books:read'], claims: { tenant: 'a' } }
  const { response } = await call('whoami', await tokenOf(ada))
  t.strictSame(response.result.structuredContent, ada)
  t.match((await call('scoped')).response, { error: { code: -32602 } }, 'nobody has the scope')
  const writer = await tokenOf({ subject: 'ada', scopes: ['books:write'] })
  t.match((await call('scoped', writer)).response, { result: { isError: undefined } })
  t.match((await call('whoami', 'another')).response.result.structuredContent, { scopes: [] },
    'other tokens are ignored')
  t.equal((await call('whoami', `${writer.slice(0, -2)}AA`)).status, 401, 'nobody else can make them')
  t.equal((await call('whoami', `${writer}.x`)).status, 401)
  t.equal((await call('whoami', writer.replace(/\.[^.]+\./, '.e30.'))).status, 401)
  for (const wrong of [
    [], {}, { scopes: 'a' }, { scopes: [1] }, { scopes: [''] }, { scopes: [], subject: 1 },
    { scopes: [], subject: '' }, { scopes: [], clientId: {} }, { scopes: [], claims: [] }
  ]) {
    const { status, text } = await pick(wrong)
    t.equal(status, 400, JSON.stringify(wrong))
    t.match(JSON.parse(text).message, /^a caller is \{/)
  }
  t.match(await pick({ scopes: [], claims: { a: 'x'.repeat(8192) } }), { status: 400, text: /at most 8192 bytes/ })
  t.match(await pick({ scopes: [], claims: { a: 'x'.repeat(70_000) } }), { status: 413 })
  t.equal((await pick('{')).status, 400)
})

t.test('a token dies with its process', async (t) => {
  const other = await openConsole(t)
  t.equal((await other.call('whoami', await plain.tokenOf({ scopes: [] }))).status, 401)
})

t.test('dev --subject --scopes says who calls without a token', async (t) => {
  const args = ['--subject', 'ada', '--scopes', 'books:read, books:write']
  const { call, readState } = await openConsole(t, { args })
  t.match((await call('whoami')).response.result, {
    structuredContent: { subject: 'ada', scopes: ['books:read', 'books:write'] }
  })
  t.match((await call('scoped')).response, { result: { structuredContent: { subject: 'ada' } } })
  t.match(await readState(), {
    callers: 'picked', caller: { subject: 'ada', scopes: ['books:read', 'books:write'] }
  })
})

t.test('says what is wrong with the catalog, and where each primitive is', async (t) => {
  const { catalog, at, readState } = await openConsole(t)
  const state = await readState()
  t.match(state, {
    endpoint: '/mcp',
    callers: 'picked',
    caller: { scopes: [] },
    scopes: ['books:write'],
    catalog: { version: /./, failure: undefined, advice: [] },
    files: { 'tool:whoami': 'tools/whoami.ts', 'tool:scoped': 'tools/scoped.ts' }
  })
  const { headers, status } = await get(at('/console/state'))
  t.equal(status, 200)
  const tag = String((headers as { readonly etag?: string }).etag)
  t.equal((await get(at('/console/state'), { 'if-none-match': tag })).status, 304)
  await writeByRename(catalog, 'tools/whoami.ts', `${WHOAMI}\nconst b = = 1\n`)
  await until(async () => (await readState()).catalog.failure !== undefined, 'the failure', 20_000)
  const failed = await readState()
  t.match(failed.catalog.failure.problems, [{ file: 'tools/whoami.ts', place: /^line 8, column \d+$/, message: /./ }])
  t.equal(failed.catalog.version, state.catalog.version, 'the catalog before is served')
  await writeByRename(catalog, 'tools/whoami.ts', WHOAMI.replace("description: 'Says who calls.', ", ''))
  await until(async () => (await readState()).catalog.failure === undefined, 'the next load', 20_000)
  t.match((await readState()).catalog.advice, [{ file: 'tools/whoami.ts', place: '', message: /has no description/ }])
})

const LONG_WORK = `import { defineTool } from 'trivet'
export default defineTool({ name: 'work', description: 'Works.', task: 'required', scopes: ['books:write'],
  async run (_, ctx) {
    ctx.log.debug('first', { of: 'run' })
    await ctx.sleep(1000)
    ctx.log.warning('second')
    return await ctx.step('draft', () => 'a draft')
  } })`

t.test('has the journal of a task, with its values where nobody needs a token', async (t) => {
  const { at, call, tokenOf } = await openConsole(t, { files: { 'tools/work.ts': LONG_WORK } })
  const token = await tokenOf({ subject: 'ada', scopes: ['books:write'] })
  const { taskId } = (await call('work', token)).response.result
  const read = async (headers = {}) => await get(at(`/console/tasks/${taskId}`), headers)
  await until(async () => JSON.parse((await read()).text).recording.status === 'completed', 'its end')
  const { text, headers } = await read()
  t.match(headers, { 'cache-control': 'no-store' })
  const { recording, log } = JSON.parse(text)
  t.match(recording, { tool: 'work', values: true, principal: { subject: 'ada' } })
  t.match(recording.journal, [{ kind: 'sleep', outcome: 'nothing' }, { key: 'draft', value: 'a draft' }])
  // The second run begins with the first line again.
  t.match(log.slice(-2), [
    { level: 'debug', data: { message: 'first', of: 'run' } }, { level: 'warning', data: 'second' }
  ])
  t.equal((await read({ origin: 'http://localhost:5173' })).status, 403)
  t.equal((await read({ host: 'tunnel.example' })).status, 403)
  for (const id of ['none', '%00', '..%2fstate', 'x'.repeat(90)]) {
    t.equal((await get(at(`/console/tasks/${id}`))).status, 404, id)
  }
})

t.test('has no values of a task where tokens are checked', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/work.ts': LONG_WORK })
  const { token, entry } = createStaticToken({
    subject: 'ada', scopes: ['books:write'], expiresAt: new Date('2100-01-01T00:00:00Z')
  })
  const environment = { TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: join(await makeFolder(t), 'tokens.yaml') }
  await writeFile(environment.TRIVET_AUTH_TOKENS, `${entry}\n`)
  const { url } = await startService(t, environment, { args: ['dev', catalog] })
  const headers = { authorization: `Bearer ${token}` }
  const call = { method: 'tools/call', params: { name: 'work' }, headers, meta: HAS_TASKS }
  const { response } = await post(t, url, call)
  const address = new URL(`/console/tasks/${response.result.taskId}`, url)
  await until(async () => JSON.parse((await get(address)).text).recording.status === 'completed', 'its end')
  const { text } = await get(address)
  t.match(JSON.parse(text).recording, { values: false, journal: [{}, { key: 'draft', outcome: 'value' }] })
  t.strictSame(JSON.parse(text).log, [])
  t.notMatch(text, /ada|a draft/)
})

t.test('says which scopes show what this caller does not see', async (t) => {
  const asked = SCOPED.replace("'scoped'", "'asked'").replace('scopes:', "whenMissing: 'challenge', scopes:")
  const { readState } = await openConsole(t, { files: { ...FILES, 'tools/asked.ts': asked } })
  t.strictSame((await readState()).scoped, { 'tool:scoped': ['books:write'] })
})

t.test('moves aside where the endpoint is the root', async (t) => {
  const { at, readState } = await openConsole(t, { environment: { TRIVET_PATH: '/' } })
  t.match(await get(at('/console')), { status: 200, text: /page\.js/ })
  t.match(await readState(), { endpoint: '/' })
})

t.test('an endpoint among its files is a problem, and so is a caller without a name', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const taken = { TRIVET_PATH: '/console/state' }
  t.match(await runService(taken, { args: ['dev', catalog] }), { code: 1, stderr: /where the console is: choose/ })
  const { url } = await startService(t, taken, { args: ['dev', catalog, '--no-console'] })
  t.equal(new URL(url).pathname, '/console/state')
  t.match(await runService({}, { args: ['dev', catalog, '--subject', ''] }), { code: 2, stderr: /needs a name/ })
})

t.test('shows a part of thousands of pieces of advice', async (t) => {
  const tools = Array.from({ length: 300 }, (_, index) => [
    `tools/t${index}.ts`, `import { defineTool } from 'trivet'
    export default defineTool({ name: 't.${index}', run: () => 'x' })`
  ])
  const { readState } = await openConsole(t, { files: Object.fromEntries(tools) })
  const { advice, hosts } = (await readState()).catalog
  t.equal(hosts.length, 201)
  t.match(hosts[0], { file: /^tools\/t\d+\.ts$/, message: /^t\.\d+ in Claude Code, .*: dots in names are rewritten/ })
  t.match(hosts.at(-1), { file: '', message: /^100 more pieces of advice: npx trivet check --hosts shows all$/ })
  t.equal(advice.length, 201)
  t.match(advice.at(-1), { file: '', message: /^400 more pieces of advice: npx trivet check shows all$/ })
})

t.test('shows the problem of a skill that is left out', async (t) => {
  const { readState } = await openConsole(t, { files: { 'skills/a/SKILL.md': 'No front matter.' } })
  t.match((await readState()).catalog, {
    failure: undefined, advice: [{ file: 'skills/a/SKILL.md', message: /^must begin with front matter/ }]
  })
})

t.test('a service that checks tokens picks nobody', async (t) => {
  const catalog = await writeCatalog(t, { ...FILES, 'tokens.yaml': '' })
  const environment = { TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: `${catalog}/tokens.yaml` }
  const { pick, readState, call } = await openConsole(t, { environment })
  t.match(await readState(), { callers: 'token', caller: { scopes: [] } })
  t.match(await pick({ scopes: [] }), { status: 400, text: /TRIVET_AUTH is set/ })
  t.equal((await call('whoami')).status, 401)
})

t.test('is not there with --no-console, in serve, and where others reach the service', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const exposed = { HOST: '0.0.0.0', TRIVET_AUTH: 'none' }
  for (const [args, environment] of [
    [['dev', catalog, '--no-console'], {}], [['serve', catalog], {}], [['dev', catalog], exposed],
    [['dev', catalog], { HOST: '127.0.0.2' }]
  ] as const) {
    const { url } = await startService(t, environment, { args })
    const local = url.replace('0.0.0.0', '127.0.0.1')
    t.equal((await get(new URL('/console/state', local))).status, 404, args.join(' '))
    t.equal((await get(new URL('/', local))).status, 404)
  }
})

t.test('a caller is named only where nobody proves who they are, and no one else is', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/a.ts': toolModule('a'), 'tokens.yaml': '' })
  const args = ['dev', catalog, '--subject', 'ada']
  const tokens = { TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: `${catalog}/tokens.yaml` }
  t.match(await runService(tokens, { args }), { code: 1, stderr: /TRIVET_AUTH=tokens asks for tokens/ })
  const exposed = { HOST: '0.0.0.0', TRIVET_AUTH: 'none' }
  t.match(await runService(exposed, { args }), { code: 1, stderr: /need a loopback address, and HOST is 0\.0\.0\.0/ })
  t.match(await runService({}, { args: ['serve', catalog, '--subject', 'ada'] }), { code: 2, stderr: /--subject/ })
})
