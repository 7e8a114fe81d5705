// `trivet dev`: what an author sees.

import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { toolModule, writeByRename, writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { runProgram } from '../../helpers/program.ts'
import { runService, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'

t.test('requests, reloads and problems are lines for people', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/a.ts': toolModule('a') })
  const service = await startService(t, { TRIVET_LOG_LEVEL: 'info' }, { args: ['dev', catalog] })
  const printed = () => stripVTControlCharacters(service.stdout())
  await post(t, service.url, { method: 'tools/call', params: { name: 'a' } })
  await until(() => /^\d\d:\d\d:\d\d tools\/call a 200 [\d.]+ ms$/m.test(printed()), 'the line of the call')
  await writeInPlace(catalog, 'tools/b.ts', toolModule('b'))
  await until(() => /catalog reloaded durationMs=\d+\n {2}\+ tool b\n/.test(printed()), 'the reload', 20_000)
  await writeInPlace(catalog, 'tools/c.ts', `import { defineTool } from 'trivet'
interface Order { readonly total: number }
declare const later: Order
const totalOf = (order?: Order): number =>
  order!.total

export default defineTool({ name: 'c', run: () => String(totalOf(undefined)) })
`)
  await until(() => /\+ tool c\n/.test(printed()), 'the next reload', 20_000)
  await post(t, service.url, { method: 'tools/call', params: { name: 'c' } })
  await until(() => /request failed/.test(printed()), 'the error')
  t.match(printed(), new RegExp(`^ {2}TypeError: .*\\n {6}at totalOf \\(${catalog}/tools/c\\.ts:5:\\d+\\)$`, 'm'),
    'the line is that of the TypeScript source')
  t.notMatch(printed(), /^\s+at .*(?:dist|node:)/m)
  // A load may see a file before and after it is written in place, and would say the problem twice.
  await writeByRename(catalog, 'tools/b.ts', 'const b = = 1\n')
  await until(() => /^ {2}tools\/b\.ts:1 Unexpected/m.test(printed()), 'the problem', 20_000)
  t.match(printed(), / {4}1 \| const b = = 1\n {18}\^\n/)
  t.equal(printed().match(/Unexpected/g)?.length, 1, 'it is said once')
  await writeInPlace(catalog, 'tools/b.ts', toolModule('b', '', "() => 'changed'"))
  await until(() => /its problems are fixed.*\n {2}~ tool b\n/.test(printed()), 'the next reload', 20_000)
  t.notMatch(printed(), /^\{/m)
})

t.test('waits for the mend of a catalog that does not load at the start', async (t) => {
  const catalog = await writeCatalog(t, {
    'server.yaml': 'name: shop\ntitle: The Shop\n',
    'tools/a.ts': toolModule('a'),
    'tools/b.ts': 'const b = = 1\n'
  })
  const service = await startService(t, { TRIVET_LOG_LEVEL: 'info' }, { args: ['dev', catalog] })
  const printed = () => stripVTControlCharacters(service.stdout())
  await until(() => /The Shop serves 0 tools/.test(printed()), 'the start')
  const first = /error: catalog not loaded: nothing is served until its problems are fixed\n {2}tools\/b\.ts:1 /
  t.match(printed(), first)
  const list = async () => (await post(t, service.url, { method: 'tools/list' })).response.result
  t.strictSame((await list()).tools, [])
  t.match(await list(), { ttlMs: 0 }, 'no client keeps the empty list')
  await writeByRename(catalog, 'tools/b.ts', 'const b = = 2\n')
  await until(() => printed().split('catalog not loaded').length === 3, 'the next problem', 20_000)
  await writeByRename(catalog, 'tools/b.ts', toolModule('b'))
  const mend = /catalog reloaded: its problems are fixed.*\n {2}\+ tool a\n {2}\+ tool b\n/
  await until(() => mend.test(printed()), 'the mend', 20_000)
  t.notMatch(printed(), '~ server.yaml')
  t.strictSame((await list()).tools.map(({ name }: { name: string }) => name), ['a', 'b'])
})

t.test('waits for the mend of server.yaml too', async (t) => {
  const catalog = await writeCatalog(t, {
    'server.yaml': 'name: shop\nscopes: [{ name: a, includes: [b] }, { name: b, includes: [a] }]\n',
    'tools/b.ts': 'const b = = 1\n'
  })
  const service = await startService(t, { TRIVET_LOG_LEVEL: 'info' }, { args: ['dev', catalog] })
  const printed = () => stripVTControlCharacters(service.stdout())
  await until(() => /shop serves 0 tools/.test(printed()), 'the start')
  t.match(printed(), /^ {2}tools\/b\.ts:1 /m)
  await writeByRename(catalog, 'tools/b.ts', toolModule('b'))
  await until(() => /^ {2}server\.yaml.*scope/m.test(printed()), 'the problem of the scopes', 20_000)
  await writeByRename(catalog, 'server.yaml', 'name: shop\n')
  await until(() => /its problems are fixed/.test(printed()), 'the mend', 20_000)
})

t.test('ends where no mend can be seen, and where there is no catalog', async (t) => {
  const catalog = await writeCatalog(t, { 'tools/b.ts': 'const b = = 1\n' })
  const unwatched = await runService({ TRIVET_WATCH: 'off' }, { args: ['dev', catalog] })
  t.match(unwatched, { code: 1, stderr: /tools\/b\.ts/ })
  const missing = await runService({}, { args: ['dev', `${catalog}/none`] })
  t.match(missing, { code: 1, stderr: /is not a folder/ })
})

t.test('keeps state in memory unless it is told otherwise', async (t) => {
  t.strictSame((await runProgram(['dev', 'here'])).served, [
    { TRIVET_STATE_URL: 'memory:', TRIVET_WORKERS: '1', TRIVET_CATALOG: 'here' }
  ])
  t.strictSame((await runProgram(['dev'], { TRIVET_STATE_URL: 'file:./x' })).served, [
    { TRIVET_STATE_URL: 'file:./x', TRIVET_WORKERS: '1' }
  ])
})

t.test('serves with one process, and has no flag for more', async (t) => {
  t.match((await runProgram(['dev'], { TRIVET_WORKERS: '4' })).served, [{ TRIVET_WORKERS: '1' }])
  t.match(await runProgram(['dev', '--workers', '4']), { exitCode: 2, served: [], err: /--workers/ })
  t.match((await runProgram(['serve', '--workers', '4'])).served, [{ TRIVET_WORKERS: '4' }])
})
