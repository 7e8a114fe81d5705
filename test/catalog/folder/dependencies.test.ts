// Dependencies of a catalog: when they are opened, who may use them, and when they are closed.

import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createService } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { CatalogError, type Problem } from '../../../src/catalog/compiled/problem.ts'
import { listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream, startRequest } from '../../helpers/stream.ts'

const DEADLINE_MS = 20_000
let count = 0

/** What the modules of a catalog share with the test. */
interface Shared {
  readonly events: string[]
  readonly gates: { [name: string]: () => void }
  failing: string | undefined
}

interface Opened {
  readonly app: FastifyInstance
  readonly admin: FastifyInstance | undefined
  readonly log: ReadableLog
  readonly root: string
}

/** The text that begins a module: `shared`, and `opening(name, options)`, which defines a dependency. */
function share (t: Test): { readonly shared: Shared, readonly beginning: string } {
  const name = `shared${count++}`
  const shared: Shared = { events: [], gates: {}, failing: undefined }
  Reflect.set(globalThis, name, shared)
  t.teardown(() => Reflect.deleteProperty(globalThis, name))
  const beginning = `import { defineDependency, defineSettings } from 'trivet'
    const shared = globalThis.${name}
    const gate = (name) => new Promise((resolve) => { shared.gates[name] = resolve })
    const opening = (name, options = {}) => defineDependency({
      name,
      open: async ({ settings }) => {
        shared.events.push('open ' + name)
        if (shared.failing === name) throw new Error('no ' + name + ' at ' + settings.URL)
        return { name, url: settings.URL, isOpen: true }
      },
      close: async (value) => {
        Object.assign(value, { isOpen: false })
        shared.events.push('close ' + name)
      },
      ...options
    })
  `
  return { shared, beginning }
}

async function open (
  t: Test, files: Files, environment: { readonly [name: string]: string } = {}
): Promise<Opened> {
  const root = await writeCatalog(t, files)
  const log = createReadableLog('debug')
  const { app, admin } = await createService(
    { ...QUIET, watch: 'on', catalog: root, logger: log.logger, environment },
    { guard: createLoadGuard(), build: { version: '1', node: '20' } }
  )
  t.teardown(async () => {
    await app.close()
    await admin?.close()
  })
  return { app, admin, log, root }
}

/** The problems for which a service with this catalog does not start. */
async function problemsOf (t: Test, files: Files): Promise<readonly Problem[]> {
  const error: unknown = await open(t, files).catch((reason: unknown) => reason)
  if (!(error instanceof CatalogError)) throw new Error(`no problem: ${error}`)
  return error.problems
}

const reloadsIn = ({ log }: Opened) => log.lines.filter(({ msg }) => msg === 'catalog reloaded').length

/** Writes a file, and waits until the service has reloaded its catalog. */
async function edit (opened: Opened, file: string, text: string): Promise<void> {
  const before = reloadsIn(opened)
  await writeInPlace(opened.root, file, text)
  await until(() => reloadsIn(opened) > before, `the reload of ${file}`, DEADLINE_MS)
}

async function call (app: FastifyInstance, name: string): Promise<Message> {
  const { response } = await send(app, { method: 'tools/call', params: { name } })
  return response.result?.content[0].text ?? response.error.message
}

const SLOW = `async (_, ctx) => {
  const before = ctx.use(database)
  ctx.progress(1)
  await gate('slow')
  return String(before.isOpen && before === ctx.use(database))
}`

/** A catalog with one dependency, which a quick and a slow tool use. */
const catalogWith = (beginning: string, options = ''): Files => ({
  'lib/database.ts': `${beginning}
    export { gate }
    export const database = opening('database', {
      settings: defineSettings({ URL: { type: 'string', secret: true, default: 'db://one' } }), ${options}
    })`,
  'tools/query.ts': `import { database } from '../lib/database.ts'
    ${toolModule('query', '', '(_, ctx) => ctx.use(database).url')}`,
  'tools/slow.ts': `import { database, gate } from '../lib/database.ts'\n${toolModule('slow', '', SLOW)}`,
  'tools/plain.ts': toolModule('plain', '', "() => 'one'")
})

t.test('opens all dependencies at once, and gives them to every handler', async (t) => {
  const { shared, beginning } = share(t)
  const { app } = await open(t, {
    'lib/two.ts': `${beginning}
      let meet
      const met = new Promise((resolve) => { meet = resolve })
      // Each waits for the other one. The second is not exported.
      export const one = opening('one', { open: async () => { await met; return 'value of one' } })
      const two = opening('two', { open: () => { meet(); return { text: 'value of two' } } })
      export const useTwo = (ctx) => ctx.use(two).text`,
    'tools/t.ts': `import { one, useTwo } from '../lib/two.ts'
      ${toolModule(
        't', 'authorize: (_, __, ctx) => useTwo(ctx) !== ""', "(_, ctx) => ctx.use(one) + ', ' + useTwo(ctx)"
      )}`,
    'prompts/p.ts': `import { definePrompt } from 'trivet'\nimport { one, useTwo } from '../lib/two.ts'
      export default definePrompt({
        name: 'p',
        arguments: [{ name: 'x', complete: (typed, ctx) => [ctx.use(one), useTwo(ctx)] }],
        render: (_, ctx) => ctx.use(one)
      })`,
    'resources/r.resource.ts': `import { defineResource } from 'trivet'\nimport { one } from '../lib/two.ts'
      export default defineResource({ uri: 'r://one', name: 'r', read: (ctx) => ctx.use(one) })`
  })
  t.equal(await call(app, 't'), 'value of one, value of two')
  const result = async (method: string, params: { readonly [key: string]: unknown }): Promise<Message> =>
    (await send(app, { method, params })).response.result
  t.equal((await result('prompts/get', { name: 'p' })).messages[0].content.text, 'value of one')
  t.equal((await result('resources/read', { uri: 'r://one' })).contents[0].text, 'value of one')
  const { completion } = await result('completion/complete', {
    ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: 'value' }
  })
  t.strictSame(completion.values.toSorted(), ['value of one', 'value of two'])
  t.strictSame(shared.events, [])
  await app.close()
  t.strictSame(shared.events.toSorted(), ['close one', 'close two'])
})

t.test('a reload closes the old value only when the last request before it has ended', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning)
  const opened = await open(t, files)
  const url = await listen(opened.app)
  const stream = await openStream(t, url, {
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }
  })
  await stream.next()
  const slow = call(opened.app, 'slow')
  await until(() => shared.gates.slow !== undefined, 'the slow request')
  await edit(opened, 'lib/database.ts', `${String(files['lib/database.ts'])}\n// edited`)
  t.strictSame(shared.events, ['open database', 'open database'])
  t.equal(await call(opened.app, 'query'), 'db://one', 'new requests use the new value')
  t.strictSame(shared.events, ['open database', 'open database'], 'requests that began later do not count')
  shared.gates.slow?.()
  t.equal(await slow, 'true')
  await until(() => shared.events.length === 3, 'the close, although a client still listens')
  t.strictSame(shared.events[2], 'close database')
})

t.test('the request of a session counts after its connection is lost', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning)
  const opened = await open(t, files)
  const session = await openSession(t, await listen(opened.app))
  const reply = await session.startCall('slow', {}, { meta: { progressToken: 'p' } })
  await until(() => shared.gates.slow !== undefined, 'the slow request')
  reply.close()
  await edit(opened, 'lib/database.ts', `${String(files['lib/database.ts'])}\n// edited`)
  t.strictSame(shared.events, ['open database', 'open database'])
  shared.gates.slow?.()
  await until(() => shared.events[2] === 'close database', 'the close')
})

t.test('requests that fail, are refused or lose their client count no longer', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning)
  const opened = await open(t, {
    ...files, 'tools/fails.ts': toolModule('fails', '', "() => { throw new Error('x') }")
  })
  const left = startRequest(t, await listen(opened.app), { method: 'tools/call', params: { name: 'slow' } })
  await until(() => shared.gates.slow !== undefined, 'the slow request')
  left.abort()
  for (const name of ['fails', 'none']) await call(opened.app, name)
  for (const method of ['none', 'tools/call', 'tools/list']) await send(opened.app, { method })
  await edit(opened, 'lib/database.ts', `${String(files['lib/database.ts'])}\n// edited`)
  await until(() => shared.events[2] === 'close database', 'the close')
})

t.test('a reload keeps what has not changed, and opens anew for a new value of a setting', async (t) => {
  const { shared, beginning } = share(t)
  const secrets = await writeCatalog(t, { url: 'db://one\n' })
  const opened = await open(t, catalogWith(beginning), { URL_FILE: join(secrets, 'url') })
  await edit(opened, 'tools/plain.ts', toolModule('plain', '', "() => 'two'"))
  await edit(opened, 'tools/plain.ts', toolModule('plain', '', "() => 'three'"))
  t.strictSame([await call(opened.app, 'plain'), ...shared.events], ['three', 'open database'])
  await writeInPlace(secrets, 'url', 'db://two\n')
  t.equal(await call(opened.app, 'query'), 'db://one')
  await edit(opened, 'tools/plain.ts', toolModule('plain', '', "() => 'four'"))
  t.equal(await call(opened.app, 'query'), 'db://two')
  t.strictSame(shared.events, ['open database', 'open database', 'close database'])
  t.notOk(opened.log.text().includes('db://'), 'the log has no value')
})

t.test('a reload that evaluates all modules keeps the values of those that have not changed', async (t) => {
  const { shared, beginning } = share(t)
  const opened = await open(t, { ...catalogWith(beginning), 'resources/a.txt': 'one' })
  await edit(opened, 'resources/a.txt', 'other')
  await edit(opened, 'prompts/a.md', 'Hello')
  t.equal(await call(opened.app, 'query'), 'db://one')
  t.strictSame(shared.events, ['open database'])
  await edit(opened, 'lib/database.ts', `${String(catalogWith(beginning)['lib/database.ts'])}\n// changed`)
  t.equal(await call(opened.app, 'query'), 'db://one')
  t.strictSame(shared.events, ['open database', 'open database', 'close database'])
})

t.test('if one does not open in a reload, the old values serve and the new ones are closed', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning)
  const opened = await open(t, files)
  shared.failing = 'second'
  await writeInPlace(opened.root, 'lib/database.ts', `${String(files['lib/database.ts'])}
    opening('first')
    export const second = opening('second', { settings: database.settings })`)
  const refusal = () => opened.log.lines.find(({ msg }) => /^catalog not reloaded/.test(msg))
  await until(() => refusal() !== undefined, 'the refusal', DEADLINE_MS)
  t.strictSame(refusal()?.problems, [
    { file: 'lib/database.ts', place: 'second.open', rule: 'failed: no second at (secret)' }
  ])
  t.strictSame(shared.events.slice(0, 4).toSorted(), [
    'open database', 'open database', 'open first', 'open second'
  ])
  t.strictSame(shared.events.slice(4).toSorted(), ['close database', 'close first'])
  t.equal(await call(opened.app, 'query'), 'db://one')
  shared.failing = undefined
  await edit(opened, 'lib/database.ts', String(files['lib/database.ts']))
  t.equal(await call(opened.app, 'query'), 'db://one')
})

t.test('a start that fails closes what it has opened, and what opens too late', async (t) => {
  const { shared, beginning } = share(t)
  const problems = await problemsOf(t, {
    'tools/a.ts': `${beginning}
      opening('quick')
      export const slow = opening('slow', {
        openTimeoutMs: 100,
        open: async ({ signal }) => {
          signal.addEventListener('abort', () => shared.events.push('told'))
          await gate('slow')
          return {}
        }
      })
      ${toolModule('a')}`
  })
  t.strictSame(problems, [{
    file: 'tools/a.ts',
    place: 'slow.open',
    rule: 'failed: it did not end within 0.1 s; it may wait for something that never comes'
  }])
  t.strictSame(shared.events, ['open quick', 'told', 'close quick'])
  shared.gates.slow?.()
  await until(() => shared.events[3] === 'close slow', 'the close')
})

t.test('nothing is opened while the catalog has another problem', async (t) => {
  const { shared, beginning } = share(t)
  t.match(await problemsOf(t, { ...catalogWith(beginning), 'tools/b.ts': 'export default 1\n' }), [
    { file: 'tools/b.ts' }
  ])
  t.strictSame(shared.events, [])
})

t.test('the end of the service waits for requests, closes, and tells of what does not close', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning)
  const { app, log } = await open(t, {
    ...files,
    'tools/c.ts': `${beginning}
      opening('broken', { close: () => { throw new Error('already gone') } })
      opening('coded', { close: () => { throw Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) } })
      opening('hanging', { closeTimeoutMs: 50, close: () => new Promise(() => {}) })
      ${toolModule('c')}`
  })
  const { answer } = startRequest(t, await listen(app), { method: 'tools/call', params: { name: 'slow' } })
  await until(() => shared.gates.slow !== undefined, 'the slow request')
  const closing = app.close()
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.notOk(shared.events.includes('close database'))
  shared.gates.slow?.()
  t.match((await (await answer).ended()).response, { result: { content: [{ text: 'true' }] } })
  await closing
  t.ok(shared.events.includes('close database'))
  const told = log.lines.filter(({ msg }) => msg === 'dependency not closed')
  t.match(told.toSorted((a, b) => a.dependency < b.dependency ? -1 : 1), [
    { dependency: 'broken', reason: 'already gone' },
    { dependency: 'coded', reason: 'ECONNREFUSED' },
    { dependency: 'hanging', reason: /did not end within 0\.05 s/ }
  ])
})

t.test('a replica whose dependency is not ready is not ready, and the admin address names it', async (t) => {
  const { shared, beginning } = share(t)
  const files = catalogWith(beginning, `
    check: async ({ url }, { signal }) => {
      shared.events.push('check')
      await new Promise((resolve) => setTimeout(resolve, 100))
      if (shared.failing === 'check') throw new Error('no answer of ' + url)
      if (shared.failing === 'hang') await new Promise((_, reject) => signal.addEventListener('abort', reject))
    }`)
  const opened = await open(t, files)
  const { app, admin } = opened
  const statuses = async () => (await Promise.all([app.inject('/readyz'), admin?.inject('/readyz')])).map(
    (answer) => answer?.statusCode
  )
  t.strictSame(await statuses(), [200, 200])
  shared.events.length = 0
  t.strictSame(await statuses(), [200, 200])
  t.strictSame(shared.events, ['check'], 'checks at the same time are one')
  shared.failing = 'check'
  t.strictSame(await statuses(), [503, 503])
  const { parts } = (await admin?.inject('/readyz'))?.json() ?? {}
  t.match(parts.find(({ name }: Message) => name === 'dependency database'), {
    ready: false, reason: 'no answer of (secret)'
  })
  t.strictSame((await app.inject('/readyz')).json(), { status: 'unready' }, 'clients learn no reason')
  shared.failing = 'hang'
  t.strictSame(await statuses(), [503, 503], 'a check has a deadline')
  await edit(opened, 'lib/database.ts', String(catalogWith(beginning)['lib/database.ts']))
  t.strictSame(await statuses(), [200, 200], 'the dependencies of a reload count at once')
})

t.test('what is opened writes to the log under its name, also later', async (t) => {
  const { beginning } = share(t)
  const { app, log } = await open(t, {
    'tools/a.ts': `${beginning}
      const client = opening('client', { open: ({ log }) => { log.notice('opened', { size: 3 }); return log } })
      ${toolModule('a', '', "(_, ctx) => { ctx.use(client).warning('is slow'); return 'ok' }")}`
  })
  await call(app, 'a')
  t.match(log.lines.filter(({ dependency }) => dependency === 'client'), [
    { level: 30, size: 3, msg: 'opened' }, { level: 40, msg: 'is slow' }
  ])
})

t.test('refuses definitions that are not valid', async (t) => {
  const refused: ReadonlyArray<readonly [options: string, place: string, rule: RegExp]> = [
    ["{ name: 'a b' }", 'd', /^name: must match pattern/],
    ['{ open: 1 }', 'd.open', /^must be a function$/],
    ['{ close: 1 }', 'd.close', /^must be a function$/],
    ['{ check: 1 }', 'd.check', /^must be a function$/],
    ['{ settings: {} }', 'd.settings', /^must be made by defineSettings$/],
    ['{ openTimeoutMs: 0 }', 'd', /^openTimeoutMs: must be >= 1/],
    ['{ closeTimeoutMs: 300001 }', 'd', /^closeTimeoutMs: must be <= 300000/],
    ['{ opne: () => {} }', 'd', /^opne: is not known here; remove it$/]
  ]
  for (const [options, place, rule] of refused) {
    const { beginning } = share(t)
    const problems = await problemsOf(t, {
      'tools/a.ts': `${beginning}\nexport const d = opening('d', ${options})\n${toolModule('a')}`
    })
    t.match(problems, [{ file: 'tools/a.ts', place, rule }], options)
  }
  const { beginning } = share(t)
  t.match(
    await problemsOf(t, { 'tools/a.ts': `${beginning}\nopening('d')\nopening('d')\n${toolModule('a')}` }),
    [{ rule: /^the dependency "d" is already defined in tools\/a\.ts$/ }]
  )
})

t.test('a dependency that a handler defines is unknown, and the log says why', async (t) => {
  const { beginning } = share(t)
  const { app, log } = await open(t, {
    'tools/a.ts': `${beginning}\n${toolModule('a', '', "(_, ctx) => ctx.use(opening('late'))")}`
  })
  t.equal(await call(app, 'a'), 'Internal error')
  t.match(log.text(), /Unknown dependency \\"late\\". Define it at the top level of a module of the catalog/)
})
