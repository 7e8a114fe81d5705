// What the `list` of a template may use: settings and open dependencies.

import t from 'tap'
import { openCatalog } from '../../../src/testing.ts'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

const FILES: Files = {
  'lib/db.ts': `import { defineDependency, defineSettings } from 'trivet'
    export const settings = defineSettings({ DB_NAME: { type: 'string', description: 'A name.' } })
    export const closed = []
    export const db = defineDependency({
      name: 'db',
      open: () => { const rows = ['a']; globalThis.listedRows = rows; return { rows } },
      close: () => { globalThis.isListedClosed = true }
    })`,
  'resources/rows.resource.ts': `import { defineResourceTemplate } from 'trivet'
    import { db, settings } from '../lib/db.ts'
    export default defineResourceTemplate({
      uriTemplate: 'row://{id}',
      name: 'row',
      list: (ctx) => ctx.use(db).rows.map((id) => (
        { variables: { id }, name: ctx.settings(settings).DB_NAME + ' ' + id }
      )),
      read: ({ id }) => id
    })`,
  'tools/add.ts': `import { defineTool } from 'trivet'
    import { db } from '../lib/db.ts'
    export default defineTool({ name: 'add', description: 'Adds.', run (_, ctx) {
      ctx.use(db).rows.push('b')
      ctx.notify.listChanged('resources')
    } })`
}

t.test('a list uses settings and dependencies, at the load and later', async (t) => {
  const catalog = await openCatalog(await writeCatalog(t, FILES), { settings: { DB_NAME: 'shop' } })
  t.teardown(async () => await catalog.close())
  const names = async () => (await catalog.list()).resources.map(({ name }) => name)
  t.strictSame(await names(), ['shop a'])
  await catalog.call('add')
  t.strictSame(await names(), ['shop a', 'shop b'])
})

t.test('a list that fails closes what was opened for it', async (t) => {
  const file = 'resources/rows.resource.ts'
  const failing = { [file]: String(FILES[file]).replace('.map', '.none') }
  const environment = { DB_NAME: 'shop' }
  await t.rejects(buildApp(t, { ...FILES, ...failing }, { environment }), /list.*failed/s)
  t.equal('isListedClosed' in globalThis, true)
})

t.test('without open dependencies such a list is empty, and no problem', async (t) => {
  const { primitives } = await loadSnapshot(await writeCatalog(t, FILES))
  t.strictSame(primitives.listed, [])
})
