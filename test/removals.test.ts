// Each feature, each edge but http, and each backend can be deleted: its folder, its file in app/, and what
// test/helpers/removals.ts cuts from others. The rest compiles, serves what it has, and passes its own tests.

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type * as Composition from '../src/app/app.ts'
import { createLoadGuard } from '../src/catalog/compiled/load-guard.ts'
import { toolModule, writeCatalog, type Files } from './helpers/catalog-folder.ts'
import { copyProject, type ProjectCopy } from './helpers/project-copy.ts'
import {
  EVERYTHING, listNeighbourTests, listTestsOfTheRest, NAMED_TESTS, TEST_CUTS
} from './helpers/neighbours.ts'
import { QUIET } from './helpers/quiet-options.ts'
import { REMOVALS, type Removal } from './helpers/removals.ts'
import { send, type Message } from './helpers/request.ts'

type Name = keyof typeof REMOVALS

/** The files that stay outside app/, and have lines of what can be deleted. */
const NAMED_ELSEWHERE: { readonly [name in Name]?: readonly string[] } = {
  console: ['main.ts'],
  desk: ['main.ts', 'programs/cli/serve.ts'],
  tracing: ['main.ts'],
  metrics: ['programs/process/worker-group.ts'],
  overload: ['main.ts', 'ops/config/settings.ts'],
  files: ['ops/config/settings.ts'],
  signIn: ['programs/cli/check.ts', 'ops/config/access-settings.ts'],
  remainders: ['programs/cli/named-catalog.ts'],
  upstreams: [
    'programs/cli/named-catalog.ts', 'programs/testing/catalog.ts', 'programs/testing/open-catalog.ts',
    'programs/testing/options.ts', 'testing.ts'
  ],
  tasks: ['programs/testing/catalog.ts', 'programs/testing/open-catalog.ts', 'testing.ts'],
  lmdb: ['platform/store/backends/url-schemes.ts'],
  redis: ['platform/store/backends/url-schemes.ts'],
  postgres: ['platform/store/backends/url-schemes.ts']
}

const WORK = 'async (args, ctx) => await ctx.step("a", () => "worked")'
const FILES: Files = {
  'tools/hello.ts': toolModule('hello'),
  'tools/work.ts': toolModule('work', "task: 'allowed'", WORK),
  'tools/put.ts': toolModule('put', '', '(args, ctx) => ctx.files.put("a", "text", { name: "a.txt" })'),
  'prompts/greet.md': 'Say hello.\n',
  'resources/notes.txt': 'Some notes.\n'
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } }
}

/** The URL does not have one of the forms that are left. */
const toMissing = (scheme: string) => new RegExp(`stateUrl must be (?!.*\\b${scheme}).*, got`)

/** Options beside those of `start`. */
const OPTIONS: { readonly [name in Name]?: object } = { overload: { overload: undefined } }

type Check = (t: Test, app: FastifyInstance, copy: ProjectCopy) => Promise<void>

/** Starts a service with an admin address. Returns the answers of that address, by path. */
async function startWithAdmin (t: Test, copy: ProjectCopy, name: Name) {
  const { createService }: typeof Composition = await import(copy.urlOf('app/app.ts'))
  const options = { catalog: await writeCatalog(t, {}), ...QUIET, ...OPTIONS[name] }
  const guard = createLoadGuard()
  const service = await createService(options, { guard, build: { version: '1.0.0', node: '24.0.0' } })
  t.teardown(async () => await service.close())
  return async (path: string) => await service.admin?.inject(path)
}

/** What is special about the rest. */
const CHECKS: { readonly [name in Name]?: Check } = {
  async legacy (t, app) {
    const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(INITIALIZE)
    })
    t.equal(answer.status, 400)
    t.equal(answer.headers.get('mcp-session-id'), null)
    const { id, error }: Message = await answer.json()
    t.equal(id, 1)
    t.equal(error.code, -32022)
    t.strictSame(error.data.supported, ['2026-07-28'])
    for (const method of ['GET', 'DELETE']) {
      for (const session of [{}, { 'mcp-session-id': 'any' }]) {
        const answer = await fetch(url, { method, headers: { accept: 'text/event-stream', ...session } })
        t.equal(answer.status, 405, method)
        t.equal(answer.headers.get('allow'), 'POST')
      }
    }
  },
  async metrics (t, _app, copy) {
    const read = await startWithAdmin(t, copy, 'metrics')
    t.equal((await read('/metrics'))?.statusCode, 404)
    t.equal((await read('/readyz'))?.statusCode, 200)
    const page = (await read('/'))?.body
    t.match(page, '<h1 class="good">Ready</h1>')
    t.notMatch(page, /\/metrics|Requests now/)
  },
  async overload (t, _app, copy) {
    const unknown = (option: string) => new RegExp(`${option} is not an option of createApp`)
    await t.rejects(copy.start(t, {}), unknown('overload'))
    await t.rejects(copy.start(t, {}, { ...OPTIONS.overload, maxRequests: 1 }), unknown('maxRequests'))
    const read = await startWithAdmin(t, copy, 'overload')
    const metrics = (await read('/metrics'))?.body
    t.match(metrics, /^trivet_open_streams 0$/m)
    t.notMatch(metrics, /^trivet_(?:requests_limit|shed_requests)/m)
  },
  async files (t, app) {
    const { response } = await send(app, { method: 'tools/call', params: { name: 'put', arguments: {} } })
    t.equal(response.error.code, -32603)
    t.equal((await app.inject('/mcp/files/a')).statusCode, 404)
  },
  async tasks (t, app) {
    const { response: { result: { tools } } } = await send(app, { method: 'tools/list' })
    t.notOk(tools.some(({ name }: { name: string }) => name === 'continue_call'))
    const { response: { result: { capabilities } } } = await send(app, { method: 'server/discover' })
    t.strictSame(capabilities.extensions, undefined)
  },
  async upstreams (t, _app, copy) {
    const source = toolModule('a') + "import { defineUpstream } from 'trivet'\nexport const crm = " +
      "defineUpstream({ name: 'crm', url: 'https://crm.example', auth: { type: 'none' } })\n"
    const problem = /crm: is an upstream, and this service calls none/
    await t.rejects(copy.start(t, { 'tools/crm.ts': source }), problem)
  },
  async lmdb (t, _app, copy) {
    await t.rejects(copy.start(t, {}, { stateUrl: 'file:./data' }), toMissing('file:'))
  },
  async redis (t, _app, copy) {
    await t.rejects(copy.start(t, {}, { stateUrl: 'redis://localhost' }), toMissing('redis:'))
  },
  async postgres (t, _app, copy) {
    const stateUrl = 'postgres://localhost/a'
    await t.rejects(copy.start(t, {}, { stateUrl }), toMissing('postgres:'))
  }
}

const SRC = new URL('../src/', import.meta.url)

/** The paths that the README of a room does not name, though they go with it. */
async function unnamedIn (room: string, { paths, cuts }: Removal): Promise<string[]> {
  const text = await readFile(new URL(`${room}/README.md`, SRC), 'utf8')
  const named = [...paths.slice(1), ...Object.keys(cuts)].map((path) => path.replace(`${room}/`, ''))
  return named.filter((path) => !text.includes(`\`${path}`))
}

/** Whether a script of the build names the room. For others the bundle without any of them proves it. */
async function isNamedByBuild (room: string): Promise<boolean> {
  const folder = new URL('../build/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.mjs'))
  const sources = await Promise.all(names.map(async (name) => await readFile(new URL(name, folder), 'utf8')))
  return sources.some((source) => source.includes(room))
}

/** Runs tests in the copy. Each file is an assertion of this test, with its failures. */
async function runTests (
  t: Test, copy: ProjectCopy, files: readonly string[], { paths }: Removal
): Promise<void> {
  const report = await copy.runTests(files, paths.includes('features/overload') ? TEST_CUTS : {})
  const counts = /^# \{ total: (\d+), pass: (\d+)/m.exec(report)
  const failures = report.match(/^ *not ok .*$/gm) ?? []
  for (const file of files) {
    t.ok(new RegExp(`^ok \\d+ - ${file} #`, 'm').test(report), `passes ${file}`, { failures })
  }
  t.equal(counts?.[1], counts?.[2], `${counts?.[2]} assertions`)
}

const removals: ReadonlyArray<[string, Removal]> = Object.entries(REMOVALS)

t.test('each feature, each edge but http, and each backend but memory can be deleted', async (t) => {
  const floors = ['features', 'edges', 'platform/store/backends']
  const rooms = await Promise.all(floors.map(async (floor) => {
    const entries = await readdir(new URL(floor, SRC), { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${floor}/${name}`)
  }))
  const deleted = removals.flatMap(([, { paths }]) => paths)
  t.strictSame(
    rooms.flat().filter((room) => !deleted.includes(room)).toSorted(),
    ['edges/http', 'platform/store/backends/memory']
  )
})

const whole = await copyProject(t)

t.test('the whole compiles', async (t) => t.equal(await whole.buildWhole(), ''))

// Most tests wait more than they work.
t.jobs = 2
/** The copies that no test uses. */
const free: ProjectCopy[] = []

/** Returns a copy for one test. */
async function takeCopy (user: Test): Promise<ProjectCopy> {
  const copy = free.pop() ?? await whole.duplicate(t)
  user.teardown(() => { free.push(copy) })
  return copy
}

for (const [name, removal] of removals) {
  t.test(`without ${name}, what is left`, async (t) => {
    const copy = await takeCopy(t)
    const [folder = ''] = removal.paths
    const room = folder.startsWith('platform/store/') ? 'platform/store' : folder
    t.strictSame(await unnamedIn(room, removal), [], 'goes as its README says')
    const cuts = await copy.remove(removal)
    for (const [file, lines] of cuts) t.comment(`${file}: ${lines}`)
    t.strictSame(
      [...cuts.keys()].filter((file) => !file.startsWith('app/')), NAMED_ELSEWHERE[name as Name] ?? [],
      'is named in few files outside app/'
    )
    t.ok([...cuts].every(([file, lines]) => !file.startsWith('app/') || lines <= 2), 'and there by two lines')
    t.equal(await copy.buildChanges(name, removal), '', 'compiles without errors')
    if (await isNamedByBuild(folder)) await t.resolves(copy.bundle(), 'can be bundled')

    const app = await copy.start(t, FILES, OPTIONS[name as Name])
    const list = await send(app, { method: 'tools/list' })
    t.equal(list.status, 200)
    const names: string[] = list.response.result.tools.map(({ name }: { name: string }) => name)
    t.strictSame(names.filter((tool) => tool !== 'continue_call'), ['hello', 'put', 'work'])
    for (const [tool, text] of [['hello', 'ok'], ['work', 'worked']]) {
      const call = await send(app, { method: 'tools/call', params: { name: tool, arguments: {} } })
      t.strictSame(call.response.result.content, [{ type: 'text', text }])
    }
    const prompt = await send(app, { method: 'prompts/get', params: { name: 'greet' } })
    t.equal(prompt.response.result.messages[0].content.text, 'Say hello.')
    const read = await send(app, { method: 'resources/read', params: { uri: 'file:///notes.txt' } })
    t.equal(read.response.result.contents[0].text, 'Some notes.\n')
    await CHECKS[name as Name]?.(t, app, copy)
    await runTests(t, copy, listNeighbourTests(name as Name), removal)
  })
}

t.test('the test files that are left out exist', async (t) => {
  t.strictSame(NAMED_TESTS.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url))), [])
})

t.test('without any of them, what is left compiles, can be bundled and passes its own tests', async (t) => {
  const copy = await takeCopy(t)
  await copy.remove(EVERYTHING)
  t.equal(await copy.buildChanges('everything', EVERYTHING), '')
  await t.resolves(copy.bundle())
  await runTests(t, copy, listTestsOfTheRest(), EVERYTHING)
})
