// Handles that no module exports: a service knows them all the same.

import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createService } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send } from '../../helpers/request.ts'

const handle = (kind: string) => `defineHandle({ kind: '${kind}', prefix: 'p', schema: { type: 'integer' }, idleTtlMs: 60_000 })`
const creating = (name: string, definition: string) => toolModule(
  name, '', `async (_, ctx) => (await ctx.handles(${definition}).create(7)).id.slice(0, 2)`
)

async function call (app: FastifyInstance, name: string): Promise<string> {
  const { response } = await send(app, { method: 'tools/call', params: { name } })
  return response.result?.content[0].text ?? response.error.message
}

const FILES: Files = {
  // In the tool's own file, after an await, and in a file of lib/ that offers a function and no definition.
  'tools/own.ts': `import { defineHandle } from 'trivet'\nconst own = ${handle('own')}\n${creating('own', 'own')}`,
  'tools/late.ts': `import { defineHandle } from 'trivet'
    await new Promise(setImmediate)
    const late = ${handle('late')}\n${creating('late', 'late')}`,
  'lib/shared.ts': `import { defineHandle } from 'trivet'\nconst shared = ${handle('shared')}
    export const handlesOf = (ctx) => ctx.handles(shared)`,
  'tools/shared.ts': `import { handlesOf } from '../lib/shared.ts'
    ${toolModule('shared', '', 'async (_, ctx) => (await handlesOf(ctx).create(7)).id.slice(0, 2)')}`,
  'lib/factory.ts': `import { defineHandle } from 'trivet'\nexport const kindOf = (kind) => ${handle('KIND').replace("'KIND'", 'kind')}`,
  'tools/one.ts': `import { kindOf } from '../lib/factory.ts'\nconst one = kindOf('one')\n${creating('one', 'one')}`,
  'tools/two.ts': `import { kindOf } from '../lib/factory.ts'\nconst two = kindOf('two')\n${creating('two', 'two')}`
}
const NAMES = ['own', 'late', 'shared', 'one', 'two']

async function callAll (t: Test, app: FastifyInstance): Promise<void> {
  for (const name of NAMES) t.equal(await call(app, name), 'p_', name)
}

t.test('a handle counts wherever a module defines it, in services that load at once', async (t) => {
  const apps = await Promise.all([buildApp(t, FILES), buildApp(t, FILES)])
  for (const app of apps) await callAll(t, app)
})

t.test('a reload knows the handles of modules that it reuses and of those that it evaluates', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const log = createReadableLog('info')
  const { app } = await createService({ ...QUIET, watch: 'on', catalog, logger: log.logger })
  t.teardown(async () => await app.close())
  const reloads = () => log.lines.filter(({ msg }) => msg === 'catalog reloaded').length
  for (const [index, edited] of ['tools/two.ts', 'lib/shared.ts', 'tools/own.ts'].entries()) {
    await writeInPlace(catalog, edited, `${String(FILES[edited])}\n// edited`)
    await until(() => reloads() === index + 1, `the reload of ${edited}`, 20_000)
    await callAll(t, app)
  }
  t.notOk(log.text().includes('not reloaded'))
})

t.test('two handles of one kind are a problem, though nobody exports them', async (t) => {
  t.match(await problemsOf(t, {
    'tools/a.ts': `import { defineHandle } from 'trivet'\n${handle('same')}\n${handle('same')}\n${toolModule('a')}`
  }), [{ file: 'tools/a.ts', place: '', rule: /^the handle "same" is already defined in tools\/a\.ts$/ }])
})

t.test('a handle that a handler defines is unknown, and the log says why', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, {
    'tools/a.ts': `import { defineHandle } from 'trivet'\n${creating('a', handle('late'))}`
  }, { logger: log.logger })
  t.equal(await call(app, 'a'), 'Internal error')
  t.match(log.text(), /Unknown handle \\"late\\". Define it at the top level of a module of the catalog/)
})
