// What a stranger can add: a method, a backend, an observer and a transport, each by one file or folder and
// one line, beside the import that the line needs; a setting and a limit, each by one row.

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import t, { type Test } from 'tap'
import { toSettingsPage } from '../docs/settings-page.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { counterModule } from '../helpers/counter-module.ts'
import { within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { copyProject } from '../helpers/project-copy.ts'
import { META, send, toPost, type Message } from '../helpers/request.ts'

/** The files that a stranger adds below src/. */
const ADDED = fileURLToPath(new URL('added/src', import.meta.url))
/** Runs the contract suites against the backend of ADDED. */
const CONTRACTS = fileURLToPath(new URL('added/contracts.ts', import.meta.url))

const FILES = {
  'tools/hello.ts': toolModule('hello'),
  'tools/speaks.ts': toolModule(
    'speaks', '', 'async (_, ctx) => { ctx.progress(1); await null; return "done" }'
  )
}

/** Starts the app of a copy in a process of its own, and asks it over standard input. */
function askOverStdio (
  t: Test, app: string, catalog: string, messages: readonly object[]
): AsyncIterable<string> {
  const source = `import { createApp } from ${JSON.stringify(app)}
    await createApp({ catalog: ${JSON.stringify(catalog)}, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => { child.kill() })
  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  return createInterface({ input: child.stdout })
}

t.test('a stranger adds', async (t) => {
  const copy = await copyProject(t)
  await copy.add(ADDED)
  await copy.insert(
    'request/methods/method-list.ts', /^import \{ serverDiscover/, "import { serverEcho } from './server-echo.ts'"
  )
  await copy.insert('request/methods/method-list.ts', /^ {4}serverDiscover\(/, '    serverEcho,')
  await copy.insert(
    'app/app.ts', /^import \{ createLogObserver/,
    "import { metrics as counts } from '../request/pipeline/metrics.ts'"
  )
  await copy.insert('app/app.ts', /^ +const observer = joinObservers\(\[/, '    counts,')
  await copy.insert('app/app.ts', /^import \{ Pipeline/, "import { serveStdio } from '../edges/stdio/stdio.ts'")
  await copy.insert('app/app.ts', /^ +const eras: Era\[\] =/, '  serveStdio(pipeline, log)')
  await copy.insert(
    'platform/store/backends/url-schemes.ts', /^import \{ memoryBackend/,
    "import { jsonBackend } from './json/backend.ts'"
  )
  await copy.insert('platform/store/backends/url-schemes.ts', /^ +memoryBackend,/, '  jsonBackend,')
  await copy.insert(
    'ops/config/settings.ts', /^const LIMITS = \{/,
    "  maxWidgets: setting('TRIVET_MAX_WIDGETS', bytes(1, 9), 3, 'A'),"
  )
  await copy.insert(
    'platform/limits/limits.ts', /^export const LIMITS = \{/,
    "  notes: { things: 'notes', per: 'principal', max: 2, advice: 'Delete one.', code: 429 },"
  )
  t.equal(await copy.build(), '', 'and all of it compiles')
  const app = await copy.start(t, FILES)

  t.test('a method', async (t) => {
    const ask = async (params: { readonly [key: string]: unknown }): Promise<Message> =>
      (await app.inject({ method: 'POST', url: '/mcp', ...toPost({ method: 'server/echo', params }) })).json()
    t.match((await ask({ text: 'again' })).result, { resultType: 'complete', text: 'again' })
    t.equal((await ask({})).error.code, -32602)
  })

  t.test('a setting', async (t) => {
    const [config, commands, settings, variables, widgets] = await Promise.all([
      'ops/config/config.ts', 'programs/cli/serve.ts', 'ops/config/settings.ts',
      'ops/config/unknown-variables.ts', 'ops/config/widgets.ts'
    ].map(async (path) => await import(copy.urlOf(path))))
    const { readConfig, completeConfig } = config
    t.equal(widgets.readWidgets(readConfig({})), 3, 'a value of the config')
    t.equal(readConfig({ TRIVET_MAX_WIDGETS: '5' }).maxWidgets, 5)
    t.equal(completeConfig({ maxWidgets: 5 }).maxWidgets, 5, 'an option of createApp')
    const problem = 'TRIVET_MAX_WIDGETS must be an integer from 1 to 9, got "0"'
    t.throws(() => readConfig({ TRIVET_MAX_WIDGETS: '0' }), Object({ problems: [problem] }), 'a check')
    const program = new Command()
    commands.serveCommand(program, { environment: {} })
    const flags = program.commands[0]?.options.map(({ long }) => long)
    t.ok(flags?.includes('--max-widgets'), 'a flag')
    const row = '| `TRIVET_MAX_WIDGETS` | `3` | an integer from 1 to 9, in bytes | A |'
    t.ok(toSettingsPage(settings.GROUPS).includes(row), 'its documentation')
    t.match(variables.findUnknownVariables({ TRIVET_MAX_WIGETS: '5' }), [{ nearest: ['TRIVET_MAX_WIDGETS'] }])
  })

  t.test('a limit', async (t) => {
    const [{ Limit }, { Used }] = await Promise.all(
      ['platform/limits/limits.ts', 'platform/limits/used.ts'].map(
        async (path) => await import(copy.urlOf(path))
      )
    )
    const used = new Used(new Limit('notes'))
    const [ada, bob] = ['ada', 'bob'].map((name) => ({ kind: 'principal', name }))
    for (const holder of [ada, ada]) used.add(holder)
    t.match(used.findRefusal(ada), { code: 429, message: 'Too many notes of yours (2). Delete one.' })
    t.equal(used.findRefusal(bob), undefined, 'each principal has its own')
  })

  t.test('an observer', async (t) => {
    const { requestCounts } = globalThis as unknown as { requestCounts: Map<string, number> }
    requestCounts.clear()
    for (const name of ['hello', 'hello', 'none']) await send(app, { method: 'tools/call', params: { name } })
    await send(app, { method: 'tools/list' })
    await send(app, { method: 'no/method' })
    t.strictSame(Object.fromEntries(requestCounts), {
      'tools/call ok': 2, 'tools/call -32602': 1, 'tools/list ok': 1, 'unknown -32601': 1
    })
  })

  t.test('a backend', async (t) => {
    const report = await copy.runTest(CONTRACTS, 'json')
    for (const part of ['store', 'broadcast', 'event log']) {
      t.match(report, new RegExp(`^ *ok \\d+ - the ${part} #`, 'm'), `the contract of the ${part} holds`)
    }
    t.notMatch(report, /^ *not ok/m)
    const stateUrl = `json:${join(await makeFolder(t), 'state.json')}`
    const files = { 'tools/lists.ts': counterModule('list', 'lst', 'idleTtlMs: 60_000') }
    const call = async (name: string, args: object): Promise<string> => {
      const app = await copy.start(t, files, { stateUrl })
      const { response } = await send(app, { method: 'tools/call', params: { name, arguments: args } })
      await app.close()
      return response.result.content[0].text
    }
    const id = await call('create_list', {})
    t.equal(await call('change_list', { id, name: 'a' }), '["a"]')
    t.equal(await call('read_list', { id }), '["a"]', 'what it keeps survives the service')
  })

  t.test('a transport', async (t) => {
    const source = await readFile(join(ADDED, 'edges/stdio/stdio.ts'), 'utf8')
    t.ok(
      source.trimEnd().split('\n').filter((line) => !line.startsWith('import') && line !== '').length <= 30
    )
    const messages = [
      { method: 'tools/call', params: { name: 'hello', arguments: {} } },
      { method: 'tools/call', params: { name: 'speaks', arguments: {}, _meta: { progressToken: 'p' } } },
      { method: 'tools/call', params: { name: 'none' } },
      { method: 'tools/list' }
    ].map(
      ({ method, params = {} }, id) => ({
        jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...Object(params)._meta } }
      })
    )
    const answers: Message[] = []
    const reading = (async () => {
      for await (
        const line of askOverStdio(t, copy.urlOf('app/app.ts'), await writeCatalog(t, FILES), messages)
      ) {
        answers.push(JSON.parse(line))
        if (answers.filter((answer) => 'id' in answer).length === messages.length) break
      }
    })()
    await within(reading, 'the answers', 30_000)
    const byId = (id: number) => answers.find((answer) => answer.id === id)
    t.match(byId(0), { result: { content: [{ text: 'ok' }] } })
    t.match(byId(1), { result: { content: [{ text: 'done' }] } })
    t.match(answers.find(({ method }) => method === 'notifications/progress'), {
      params: { progressToken: 'p', progress: 1 }
    })
    t.match(byId(2), { error: { code: -32602 } })
    t.match(byId(3), { result: { tools: [{ name: 'hello' }, { name: 'speaks' }] } })
  })
})
