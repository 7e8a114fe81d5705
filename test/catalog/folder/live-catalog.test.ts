import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { listen } from '../../helpers/app.ts'
import {
  toolModule, writeByRename, writeCatalog, writeInPlace, writeVolume, type Files
} from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openStream, type AnswerStream } from '../../helpers/stream.ts'

const DEADLINE_MS = 20_000

interface Live { readonly app: FastifyInstance, readonly log: ReadableLog, readonly stream: AnswerStream }

/** A service for this folder, and a client that subscribes to all lists and to some resources. */
async function openLive (
  t: Test, catalog: string, resourceSubscriptions: string[] = [], options: AppOptions = {}
): Promise<Live> {
  const log = createReadableLog('info')
  const app = await createApp({
    catalog, watch: 'on', logger: log.logger, stateUrl: 'memory:', overload: 'off', ...options
  })
  t.teardown(async () => await app.close())
  const notifications = {
    toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions
  }
  const stream = await openStream(t, await listen(app), {
    method: 'subscriptions/listen', id: 'listening', params: { notifications }
  })
  t.match(await stream.next(), {
    method: 'notifications/subscriptions/acknowledged', params: { notifications }
  })
  return { app, log, stream }
}

async function call (app: FastifyInstance, name: string, args: object = {}): Promise<Message> {
  const { response } = await send(app, { method: 'tools/call', params: { name, arguments: args } })
  return response.result?.content[0].text ?? response.error.message
}

async function read (app: FastifyInstance, uri: string): Promise<Message> {
  const { response } = await send(app, { method: 'resources/read', params: { uri } })
  return response.result?.contents[0].text ?? response.error.message
}

async function untilCalled (app: FastifyInstance, name: string, answer: string): Promise<void> {
  await until(async () => await call(app, name) === answer, `${name} to answer ${answer}`, DEADLINE_MS)
}

const said = (stream: AnswerStream): Message[] => stream.messages.slice(1).map(
  ({ method, params }) => params.uri ?? method
)
const saying = (text: string, name = 'a'): string => toolModule(name, '', `() => '${text}'`)
const TOOLS = 'notifications/tools/list_changed'
const PROMPTS = 'notifications/prompts/list_changed'
const RESOURCES = 'notifications/resources/list_changed'

t.test('serves every kind of change (135, 192)', async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': saying('one'), 'tools/gone.ts': saying('gone', 'gone') })
  const { app, stream } = await openLive(t, root)
  await writeByRename(root, 'tools/a.ts', saying('two'))
  await untilCalled(app, 'a', 'two')
  await writeInPlace(root, 'tools/a.ts', saying('three'))
  await untilCalled(app, 'a', 'three')
  t.strictSame(said(stream), [], 'and says nothing where no list has changed')
  await writeInPlace(root, 'tools/new/b.ts', saying('four', 'b'))
  await untilCalled(app, 'b', 'four')
  await until(() => said(stream).length === 1, 'a notification')
  await rm(join(root, 'tools/gone.ts'))
  await untilCalled(app, 'gone', 'Tool gone not found')
  await rm(join(root, 'tools/new'), { recursive: true })
  await untilCalled(app, 'b', 'Tool b not found')
  await until(() => said(stream).length === 3, 'a notification each')
  t.strictSame(said(stream), [TOOLS, TOOLS, TOOLS])
  t.match(stream.messages[1].params, { _meta: { 'io.modelcontextprotocol/subscriptionId': 'listening' } })
})

t.test('announces only lists and files that have changed (135, 162, 163, 172)', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a', 'title: "A"'),
    'prompts/p.md': 'P',
    'resources/a.txt': 'a',
    'resources/b.txt': 'b',
    'resources/docs/c.txt': 'c',
    'lib/x.ts': ''
  })
  const { stream } = await openLive(t, root, ['file:///a.txt', 'file:///docs', 'file:///b.txt'])
  const announced = async (what: string[]): Promise<void> => {
    const before = said(stream).length
    await until(() => said(stream).length >= before + what.length, what.join(', '), DEADLINE_MS)
    t.strictSame(said(stream).slice(before), what)
  }
  for (const [path, text, what] of [
    ['prompts/p.md', '---\ntitle: P\n---\nP', [PROMPTS]],
    ['tools/a.ts', toolModule('a', 'title: "B"'), [TOOLS]],
    ['prompts/p.md', '---\ntitle: P\n---\nOnly the text is another.', []],
    ['tools/b.ts', toolModule('b'), [TOOLS]],
    ['resources/a.txt', 'another', [RESOURCES, 'file:///a.txt']],
    ['resources/docs/c.txt', 'another', [RESOURCES, 'file:///docs/c.txt']],
    ['resources/docs/new.txt', 'new', [RESOURCES, 'file:///docs/new.txt']],
    [
      'resources/s.resource.ts',
      "import { defineResource } from 'trivet'\nexport default defineResource({ uri: 'x://s', name: 's', " +
        "scopes: ['s'], read: () => '' })",
      []
    ],
    ['prompts/p.md', '---\ntitle: Q\n---\nThe end.', [PROMPTS]]
  ] as const) {
    await writeByRename(root, path, text)
    await announced([...what])
  }
})

t.test('tells subscribers of a file that is removed, made again, or made late (162, 172)', async (t) => {
  const root = await writeCatalog(t, { 'resources/a.txt': 'a', 'resources/docs/b.txt': 'b' })
  const { stream } = await openLive(t, root, ['file:///a.txt', 'file:///late.txt', 'file:///docs'])
  const announced = async (uri: string): Promise<void> => {
    const before = said(stream).length
    await until(() => said(stream).length >= before + 2, uri, DEADLINE_MS)
    t.strictSame(said(stream).slice(before), [RESOURCES, uri])
  }
  await rm(join(root, 'resources/a.txt'))
  await announced('file:///a.txt')
  await writeInPlace(root, 'resources/a.txt', 'a')
  await announced('file:///a.txt')
  await writeInPlace(root, 'resources/late.txt', 'late')
  await announced('file:///late.txt')
  await writeInPlace(root, 'resources/docs/c.txt', 'c')
  await announced('file:///docs/c.txt')
  await rm(join(root, 'resources/docs/b.txt'))
  await announced('file:///docs/b.txt')
})

t.test('finishes a request with the code and the libraries that it began with', async (t) => {
  const gates = await writeCatalog(t, {})
  const waiting = (version: string) => `import { existsSync, writeFileSync } from 'node:fs'
    import { setTimeout } from 'node:timers/promises'
    import { defineTool } from 'trivet'
    import { version } from '../lib/version.ts'
    export default defineTool({ name: 'wait', async run () {
      writeFileSync('${gates}/started-${version}', '')
      while (!existsSync('${gates}/go')) await setTimeout(5)
      return '${version} ' + version()
    } })`
  const lib = (version: string) => `let text = '${version}'\nexport const version = () => text`
  const root = await writeCatalog(t, {
    'tools/wait.ts': waiting('tool 1'), 'tools/a.ts': saying('one'), 'lib/version.ts': lib('lib 1')
  })
  const { app } = await openLive(t, root)
  const old = call(app, 'wait')
  await until(() => existsSync(join(gates, 'started-tool 1')), 'the old tool to start')
  await writeInPlace(root, 'tools/wait.ts', waiting('tool 2'))
  await writeInPlace(root, 'lib/version.ts', lib('lib 2'))
  await rm(join(root, 'tools/a.ts'))
  await untilCalled(app, 'a', 'Tool a not found')
  const fresh = call(app, 'wait')
  await until(() => existsSync(join(gates, 'started-tool 2')), 'the new tool to start')
  await writeInPlace(gates, 'go', '')
  t.equal(await within(old, 'the old answer'), 'tool 1 lib 1')
  t.equal(await within(fresh, 'the new answer'), 'tool 2 lib 2')
})

t.test('keeps serving the old catalog until the new one has no problems, which it logs', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': saying('one'), 'tools/b.ts': saying('one', 'b'), 'resources/a.txt': 'a'
  })
  const { app, log, stream } = await openLive(t, root)
  const errors = () => log.lines.filter(({ level }) => level === 50)
  await writeInPlace(root, 'tools/a.ts', saying('two'))
  await untilCalled(app, 'a', 'two')
  await writeInPlace(root, 'tools/b.ts', 'const b = (\n')
  await until(() => errors().length > 0, 'a complaint', DEADLINE_MS)
  t.match(errors()[0], {
    msg: 'catalog not reloaded: the one from before keeps serving',
    catalog: root,
    problems: [
      { file: 'tools/b.ts', place: 'line 2', rule: 'Unexpected end of file' }
    ]
  })
  t.equal(JSON.stringify(errors()[0]).split('Unexpected end of file').length, 2, 'the problem is said once')
  await writeInPlace(root, 'tools/a.ts', saying('three'))
  await until(() => errors().length > 1, 'another complaint', DEADLINE_MS)
  t.equal(await call(app, 'a'), 'two', 'all of it or nothing of it')
  t.equal(await call(app, 'b'), 'one')
  await writeInPlace(root, 'tools/b.ts', saying('mended', 'b'))
  await untilCalled(app, 'b', 'mended')
  t.equal(await call(app, 'a'), 'three')
  t.strictSame(said(stream), [])
})

t.test('never serves files of different versions together', async (t) => {
  const tool =
    (name: string) =>
      `import { defineTool } from 'trivet'\nimport { version } from '../lib/version.ts'\nexport default defineTool({ name: '${name}', title: version, run: () => version })`
  const root = await writeCatalog(t, {
    'tools/a.ts': tool('a'), 'tools/b.ts': tool('b'), 'lib/version.ts': "export const version = '0'"
  })
  const { app } = await openLive(t, root)
  const titles = async (): Promise<string[]> => (
    await send(app, { method: 'tools/list' })
  ).response.result.tools.map(({ title }: Message) => title)
  const mixtures: string[][] = []
  const seen = async (): Promise<string[]> => {
    const found = await titles()
    if (new Set(found).size > 1) mixtures.push(found)
    return found
  }
  for (let version = 1; version <= 60; version++) {
    await (version % 2 === 0 ? writeByRename : writeInPlace)(
      root, 'lib/version.ts', `export const version = '${version}'`
    )
    await writeByRename(
      root, `tools/${version % 3 === 0 ? 'a' : 'b'}.ts`, tool(version % 3 === 0 ? 'a' : 'b')
    )
    await seen()
    await nextTurn()
  }
  await until(async () => (await seen()).every((title) => title === '60'), 'the last edit', DEADLINE_MS)
  t.strictSame(mixtures, [])
  t.strictSame([await call(app, 'a'), await call(app, 'b')], ['60', '60'])
})

for (const watch of ['on', 'poll'] as const) {
  t.test(`detects the link swap of a mounted ConfigMap (${watch})`, async (t) => {
    const root = await writeCatalog(t, {})
    const files = (text: string): Files => ({
      'server.yaml': 'name: mounted',
      'tools/a.ts': `import { text } from '../lib/text.ts'\n${toolModule('a', '', '() => text')}`,
      'lib/text.ts': `export const text = '${text}'`,
      'resources/a.txt': text
    })
    await writeVolume(root, '1', files('one'))
    const { app, log } = await openLive(t, root, [], { watch })
    t.equal(await call(app, 'a'), 'one')
    await writeVolume(root, '2', files('two'))
    await untilCalled(app, 'a', 'two')
    t.equal(await read(app, 'file:///a.txt'), 'two')
    await rm(join(root, '..2026_01_01_00_00_01'), { recursive: true })
    await writeVolume(root, '3', { ...files('three'), 'tools/a.ts': 'broken (' })
    await rm(join(root, '..2026_01_01_00_00_02'), { recursive: true })
    await until(() => log.lines.some(({ level }) => level === 50), 'a complaint', DEADLINE_MS)
    t.equal(await call(app, 'a'), 'two')
    t.equal(await read(app, 'file:///a.txt'), 'three', 'a file is what it is')
    await writeVolume(root, '4', files('four'))
    await untilCalled(app, 'a', 'four')
  })

  t.test(`detects the link swap of a ConfigMap that is mounted below the folder (${watch})`, async (t) => {
    const root = await writeCatalog(t, { 'server.yaml': 'name: mounted', 'tools/.keep': '' })
    await writeVolume(join(root, 'tools'), '1', { 'a.ts': saying('one') })
    const { app } = await openLive(t, root, [], { watch })
    for (const [moment, text] of [['2', 'two'], ['3', 'three']] as const) {
      await writeVolume(join(root, 'tools'), moment, { 'a.ts': saying(text) })
      await untilCalled(app, 'a', text)
    }
  })
}

t.test('polls if the setting says so', async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': saying('one') })
  const { app } = await openLive(t, root, [], { watch: 'poll' })
  await writeInPlace(root, 'tools/a.ts', saying('two, and longer'))
  await untilCalled(app, 'a', 'two, and longer')
  await writeByRename(root, 'tools/deep/b.ts', saying('b', 'b'))
  await untilCalled(app, 'b', 'b')
})

t.test('evaluates again what changed, and all modules after a change of another file', async (t) => {
  const counting = (name: string) => `import { defineTool } from 'trivet'
import { readFileSync } from 'node:fs'
const words = readFileSync(new URL('../resources/words.txt', import.meta.url), 'utf8')
let calls = 0
export default defineTool({ name: '${name}', description: 'A tool.', run: () => \`\${words} \${++calls}\` })
`
  const root = await writeCatalog(t, {
    'resources/words.txt': 'old', 'tools/a.ts': counting('a'), 'tools/b.ts': counting('b')
  })
  const { app } = await openLive(t, root)
  t.equal(await call(app, 'a'), 'old 1')
  t.equal(await call(app, 'b'), 'old 1')
  await writeInPlace(root, 'tools/b.ts', counting('c'))
  await untilCalled(app, 'c', 'old 1')
  t.equal(await call(app, 'a'), 'old 2', 'a module that did not change keeps its state')
  await writeInPlace(root, 'resources/words.txt', 'new')
  await until(async () => await read(app, 'file:///words.txt') === 'new', 'the file', DEADLINE_MS)
  await until(async () => (await call(app, 'a')).startsWith('new'), 'its readers', DEADLINE_MS)
})

t.test('evaluates modules again whose load was refused', async (t) => {
  const gates = await writeCatalog(t, { closed: '' })
  const root = await writeCatalog(t, { 'tools/a.ts': saying('one') })
  const { app, log } = await openLive(t, root)
  await writeInPlace(root, 'tools/c.ts', 'const c = (\n')
  await writeInPlace(root, 'tools/b.ts', `import { existsSync } from 'node:fs'
import { defineTool } from 'trivet'
const isClosed = existsSync('${gates}/closed')
export default defineTool({ name: 'b', description: 'A tool.', run: () => isClosed ? 'closed' : 'open' })
`)
  await until(() => log.lines.some(({ level }) => level === 50), 'a complaint', DEADLINE_MS)
  await rm(join(gates, 'closed'))
  await writeInPlace(root, 'tools/c.ts', saying('c', 'c'))
  await untilCalled(app, 'b', 'open')
})
