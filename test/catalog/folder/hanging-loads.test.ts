import t from 'tap'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import { openLiveCatalog } from '../../../src/catalog/folder/live/live-catalog.ts'
import * as trivet from '../../../src/index.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { keysOf, moduleOf } from './definition-modules.ts'

const FILE = 'resources/t.resource.ts'
const listing = (list: string) => moduleOf(
  `export default defineResourceTemplate({ uriTemplate: 'x://{id}', name: 't', list: ${list}, read: () => '' })`
)
const NEVER = '() => new Promise(() => {})'

t.test('a list that never ends is a problem, and later edits load', async (t) => {
  const root = await writeCatalog(t, { [FILE]: listing('() => []') })
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'on', trivet })
  const log = createReadableLog()
  const { catalog, close } = await openLiveCatalog(
    source, createLocalBroadcast(), log.logger, { pageSize: 10, listDeadlineMs: 200 }
  )
  t.teardown(close)
  await writeInPlace(root, FILE, listing(NEVER))
  await until(() => log.lines.some(({ level }) => level === 50), 'a problem')
  t.match(log.lines.find(({ level }) => level === 50).problems, [
    { file: FILE, place: 'list', rule: /^failed: it did not end within 0\.2 s/ }
  ])
  await writeInPlace(root, FILE, listing("() => [{ uri: 'x://1', name: 'one' }]"))
  await until(() => keysOf(catalog.current.primitives.listed)[0] === 'x://1', 'the next edit')
})

t.test('closing does not wait for a list that never ends', async (t) => {
  const root = await writeCatalog(t, { [FILE]: listing('() => []') })
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'on', trivet })
  const { close } = await openLiveCatalog(
    source, createLocalBroadcast(), createReadableLog().logger, { pageSize: 10, listDeadlineMs: 6000 }
  )
  const began = new Promise<void>((resolve) => { Object.assign(globalThis, { listBegan: resolve }) })
  await writeInPlace(root, FILE, listing('() => { globalThis.listBegan(); return new Promise(() => {}) }'))
  await within(began, 'the call of the list')
  await within(close(), 'the end', 3000)
})
