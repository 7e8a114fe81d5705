// The built service as a process, with dependencies and secrets: its start, its signals, its end.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { toolModule, writeCatalog, writeInPlace, type Files } from './helpers/catalog-folder.ts'
import { until } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'
import { findFreePort } from './helpers/free-port.ts'
import { runService, startService, type Service } from './helpers/service.ts'
import { post, startRequest } from './helpers/stream.ts'

const DEADLINE_MS = 20_000
const SECRET = 'a-secret-of-the-catalog'

/** A catalog that writes to a file when its dependency is opened and closed. */
const catalogOf = (events: string, options = ''): Files => ({
  'lib/database.ts': `import { defineDependency, defineSettings } from 'trivet'
    import { appendFileSync } from 'node:fs'
    export const note = (text) => appendFileSync(${JSON.stringify(events)}, text + '\\n')
    const settings = defineSettings({ PASSWORD: { type: 'string', secret: true } })
    export const database = defineDependency({
      name: 'database',
      settings,
      open ({ settings }) { note('open ' + settings.PASSWORD); return settings.PASSWORD },
      close () { note('close') }, ${options}
    })`,
  'tools/a.ts': `import { database } from '../lib/database.ts'
    ${toolModule('a', '', '(_, ctx) => ctx.use(database)')}`,
  'tools/slow.ts': `import { note } from '../lib/database.ts'
    ${toolModule('slow', '', `async () => {
      note('slow begins')
      await new Promise((resolve) => setTimeout(resolve, 500))
      note('slow ends')
      return 'done'
    }`)}`
})

async function eventsIn (file: string): Promise<string[]> {
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
}

const call = async ({ url }: Service, name: string): Promise<string> => {
  const { response } = await post(t, url, { method: 'tools/call', params: { name } })
  return response.result?.content[0].text ?? response.error.message
}

t.test('SIGTERM closes dependencies after the last request', async (t) => {
  const events = join(await makeFolder(t), 'events')
  const catalog = await writeCatalog(t, catalogOf(events))
  const service = await startService(t, { TRIVET_CATALOG: catalog, PASSWORD: SECRET })
  t.equal(await call(service, 'a'), SECRET)
  const { answer } = startRequest(t, service.url, { method: 'tools/call', params: { name: 'slow' } })
  await until(async () => (await eventsIn(events)).includes('slow begins'), 'the slow request')
  const stopping = service.stop()
  t.match((await (await answer).ended()).response, { result: { content: [{ text: 'done' }] } })
  t.equal(await stopping, 0)
  t.strictSame(await eventsIn(events), [`open ${SECRET}`, 'slow begins', 'slow ends', 'close'])
})

t.test('SIGHUP opens anew with the secret that is now in the file', async (t) => {
  const folder = await makeFolder(t)
  const [events, password] = [join(folder, 'events'), join(folder, 'password')]
  await writeInPlace(folder, 'password', 'first\n')
  const catalog = await writeCatalog(t, catalogOf(events))
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_WATCH: 'off', TRIVET_LOG_LEVEL: 'debug', PASSWORD_FILE: password
  })
  t.equal(await call(service, 'a'), 'first')
  await writeInPlace(folder, 'password', `${SECRET}\n`)
  service.child.kill('SIGHUP')
  await until(async () => (await eventsIn(events)).length === 3, 'the close', DEADLINE_MS)
  t.equal(await call(service, 'a'), SECRET)
  t.strictSame(await eventsIn(events), ['open first', `open ${SECRET}`, 'close'])
  t.equal(await service.stop(), 0)
  t.notOk(service.stdout().includes(SECRET))
})

t.test('a dependency that does not open ends the start, with one line that says why', async (t) => {
  const events = join(await makeFolder(t), 'events')
  const failing = `open: async ({ settings }) => {
    await new Promise(setImmediate)
    throw new Error('nobody listens at ' + settings.PASSWORD + '\\nmore')
  }`
  const catalog = await writeCatalog(t, {
    ...catalogOf(events, failing),
    'lib/other.ts': `import { defineDependency } from 'trivet'\nimport { note } from './database.ts'
      defineDependency({ name: 'other', open: () => note('open other'), close: () => note('close other') })`,
    'tools/b.ts': `import '../lib/other.ts'\n${toolModule('b')}`
  })
  const { code, stderr, stdout } = await runService({ TRIVET_CATALOG: catalog, PASSWORD: SECRET })
  t.equal(code, 1)
  t.equal(
    stderr,
    'The catalog does not load:\n  lib/database.ts: database.open: failed: nobody listens at (secret)\n'
  )
  t.match(stdout, /^[^\n]*"level":60[^\n]*\n$/, 'one record')
  t.strictSame(await eventsIn(events), ['open other', 'close other'])
})

t.test('a start that fails later closes what was opened', async (t) => {
  const events = join(await makeFolder(t), 'events')
  const catalog = await writeCatalog(t, catalogOf(events))
  const port = String(await findFreePort())
  const other = await writeCatalog(t, { 'tools/x.ts': toolModule('x') })
  await startService(t, { TRIVET_CATALOG: other, PORT: port })
  const { code, stderr } = await runService({ TRIVET_CATALOG: catalog, PASSWORD: 'p', PORT: port })
  t.match(stderr, /^Cannot listen on port/)
  t.equal(code, 1)
  t.strictSame(await eventsIn(events), ['open p', 'close'])
})

const OWN_SECRETS = {
  TRIVET_SECRETS: 's'.repeat(32),
  TRIVET_STATE_URL: 'memory:',
  TRIVET_OTLP_URL: 'http://127.0.0.1:9/',
  TRIVET_AUTH_CLIENT_SECRET: 'hidden'
}
const ENVIRONMENT = `import { setTimeout as pause } from 'node:timers/promises'
  const before = Object.keys(process.env)
  ${toolModule('keys', '', '() => [...before, ...Object.keys(process.env)].join()')}`

t.test('modules of the catalog do not see the secrets of the service', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/keys.ts': ENVIRONMENT })
  const environment = { ...OWN_SECRETS, TRIVET_CATALOG: catalog, OTHER: 'x' }
  const served = await startService(t, environment)
  const dev = await startService(t, environment, { args: ['dev', catalog] })
  const called = await runService(environment, { args: ['call', 'keys'] })
  for (const keys of [await call(served, 'keys'), await call(dev, 'keys'), called.stdout]) {
    t.match(keys, /\bOTHER\b/)
    for (const variable of Object.keys(OWN_SECRETS)) t.notOk(keys.includes(variable), variable)
  }
  t.notMatch(served.stdout(), /TRIVET_SECRETS is not set/, 'the service has them')
  t.notMatch(dev.stdout(), /TRIVET_SECRETS is not set/)
})
