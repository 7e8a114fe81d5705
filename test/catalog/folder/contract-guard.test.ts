// `guard` in server.yaml: a running service and changes that break its clients.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createService, type Service } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import type { Message } from '../../helpers/request.ts'

const taking = (properties: string, required = '') => toolModule(
  'a', `inputSchema: { type: 'object', properties: { ${properties} }, required: [${required}] }`
)
const TEXT = "x: { type: 'string' }"
const BEFORE = { 'tools/a.ts': taking(TEXT), 'tools/b.ts': toolModule('b') }

interface Guarded {
  readonly catalog: string
  /** Reloads after this change, and returns the lines of the log about it. */
  reload (files: Files, gone?: readonly string[]): Promise<Message[]>
  names (): string[]
}

async function serve (t: Test, files: Files): Promise<Guarded> {
  const catalog = await writeCatalog(t, files)
  const log = createReadableLog('info')
  const service: Service = await createService(
    { ...QUIET, catalog, logger: log.logger }, { guard: createLoadGuard() }
  )
  t.teardown(async () => await service.app.close())
  const isAbout = ({ msg }: Message) => /^catalog (?:not )?reloaded/.test(msg)
  return {
    catalog,
    names: () => service.catalog.current.primitives.tools.map(({ key }) => key),
    async reload (changed, gone = []) {
      const earlier = log.lines.length
      for (const [path, contents] of Object.entries(changed)) await writeInPlace(catalog, path, contents)
      for (const path of gone) await rm(join(catalog, path))
      service.reload()
      await until(() => log.lines.slice(earlier).some(isAbout), 'the reload', 20_000)
      return log.lines.slice(earlier)
    }
  }
}

t.test('a reload that breaks clients is refused, with each break, its file and its line', async (t) => {
  const { reload, names } = await serve(t, { ...BEFORE, 'server.yaml': 'guard: refuse\n' })
  const refused = await reload({ 'tools/a.ts': `\n${taking(TEXT, "'x'")}` }, ['tools/b.ts'])
  t.match(refused.find(({ problems }) => problems !== undefined), {
    level: 50,
    msg: /^catalog not reloaded/,
    problems: [
      { file: 'tools/a.ts', place: 'line 3', rule: 'breaks clients: tool a arguments: x is newly required' },
      { file: 'tools/b.ts', place: '', rule: 'breaks clients: tool b is gone' },
      { file: 'server.yaml', place: 'guard', rule: /write "guard: warn" or "guard: off" to accept them/ }
    ]
  })
  t.strictSame(names(), ['a', 'b'])
  const again = await reload({})
  t.match(again.at(-1), { msg: /^catalog not reloaded/ }, 'a reload by hand is no way around it')
  const fixed = await reload(BEFORE)
  t.match(fixed.at(-1), { msg: 'catalog reloaded', isFixed: true })
})

t.test('what breaks nobody is accepted', async (t) => {
  const { reload, names } = await serve(t, { ...BEFORE, 'server.yaml': 'guard: refuse\n' })
  const [line] = await reload({ 'tools/a.ts': taking(`${TEXT}, y: {}`), 'tools/c.ts': toolModule('c') })
  t.match(line, { msg: 'catalog reloaded', changes: ['~ tool a', '+ tool c'] })
  t.strictSame(names(), ['a', 'b', 'c'])
})

t.test('the guard stays on when the file that turned it on is gone', async (t) => {
  const { reload, names } = await serve(t, { ...BEFORE, 'server.yaml': 'guard: refuse\n' })
  const lines = await reload({}, ['server.yaml', 'tools/a.ts', 'tools/b.ts'])
  t.match(lines.at(-1), { msg: /^catalog not reloaded/ })
  t.strictSame(names(), ['a', 'b'])
})

t.test('with warn the breaks are logged, and the catalog is accepted', async (t) => {
  const { reload, names } = await serve(t, { ...BEFORE, 'server.yaml': 'guard: warn\n' })
  const lines = await reload({}, ['tools/b.ts'])
  t.match(lines, [
    { level: 40, problems: [{ file: 'tools/b.ts', rule: 'breaks clients: tool b is gone' }] },
    { msg: 'catalog reloaded', changes: ['- tool b'] }
  ])
  t.strictSame(names(), ['a'])
})

t.test('off by default, and turned off by the catalog that breaks', async (t) => {
  const open = await serve(t, BEFORE)
  t.match((await open.reload({}, ['tools/b.ts'])).at(-1), { msg: 'catalog reloaded' })
  const guarded = await serve(t, { ...BEFORE, 'server.yaml': 'guard: refuse\n' })
  const lines = await guarded.reload({ 'server.yaml': 'guard: off\n' }, ['tools/b.ts'])
  t.match(lines.at(-1), { msg: 'catalog reloaded', changes: ['- tool b', '~ server.yaml'] })
  const next = await guarded.reload({}, ['tools/a.ts'])
  t.match(next.at(-1), { msg: 'catalog reloaded', changes: ['- tool a'] })
})

t.test('another word is a problem of server.yaml', async (t) => {
  const catalog = await writeCatalog(t, { 'server.yaml': 'guard: on\n' })
  await t.rejects(createService({ ...QUIET, catalog }), {
    name: 'CatalogError', message: /server\.yaml: .*guard/
  })
})
