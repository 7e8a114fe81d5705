import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { CatalogContents } from '../../../src/catalog/compiled/contents.ts'
import type { CatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import { openLiveCatalog } from '../../../src/catalog/folder/live/live-catalog.ts'
import { defineTool } from '../../../src/index.ts'
import type { ChangeEvent } from '../../../src/platform/store/changes/change-event.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { until, within } from '../../helpers/deadline.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'

/** A source whose changes and loads are controlled by the test. */
function createScriptedSource (): {
  source: CatalogFolder
  change: () => void
  loads: Array<(contents: Partial<CatalogContents>) => void>
  watched: () => boolean
} {
  const loads: Array<(contents: Partial<CatalogContents>) => void> = []
  let listener: (() => void) | undefined
  return {
    loads,
    change: () => listener?.(),
    watched: () => listener !== undefined,
    source: {
      name: 'scripted',
      accepted () {},
      forget () {},
      load: async () => await new Promise(
        (resolve) => loads.push((contents) => resolve({ ...EMPTY_CONTENTS, ...contents }))
      ),
      async watch (onChange) {
        listener = onChange
        return async () => { listener = undefined }
      }
    }
  }
}

async function openScripted (): Promise<ReturnType<typeof createScriptedSource> & {
  opening: ReturnType<typeof openLiveCatalog>
  events: ChangeEvent[]
  log: ReadableLog
}> {
  const scripted = createScriptedSource()
  const broadcast = createLocalBroadcast()
  const events: ChangeEvent[] = []
  broadcast.subscribe((event) => events.push(event))
  const log = createReadableLog()
  const opening = openLiveCatalog(scripted.source, broadcast, log.logger, { pageSize: 10 })
  await until(() => scripted.loads.length === 1, 'the first load')
  return { ...scripted, opening, events, log }
}

t.test('misses no change during the first load', async (t) => {
  const { loads, change, opening, log, events } = await openScripted()
  change()
  await nextTurn()
  t.equal(loads.length, 1, 'one load at a time')
  loads[0]?.({ stamps: new Map([['x://a', '1']]) })
  const { catalog, close } = await opening
  await until(() => loads.length === 2, 'the second load')
  loads[1]?.({ stamps: new Map([['x://a', '2']]) })
  await until(() => events.length === 1, 'an event')
  t.strictSame(events, [{ type: 'resource-updated', uri: 'x://a' }])
  t.equal(catalog.current.stamps.get('x://a'), '2')
  t.notMatch(log.text(), 'not reloaded')
  await close()
})

t.test('loads once more after a change during a load, and only once', async (t) => {
  const { loads, change, opening, log } = await openScripted()
  loads[0]?.({})
  const { close } = await opening
  change()
  await until(() => loads.length === 2, 'the second load')
  for (let i = 0; i < 5; i++) change()
  loads[1]?.({})
  await until(() => loads.length === 3, 'the third load')
  loads[2]?.({})
  await until(() => log.text().split('catalog reloaded').length === 3, 'two reloads')
  await nextTurn()
  t.equal(loads.length, 3)
  await close()
})

t.test('requests and further changes come between the steps of a large reload', async (t) => {
  const toolsOf = (description: string) => Array.from({ length: 3000 }, (_, index) => ({
    definition: defineTool({ name: `tool_${index}`, description, run: () => '' }), file: 'a.ts', place: ''
  }))
  const { loads, change, opening, log, events } = await openScripted()
  loads[0]?.({ tools: toolsOf('First.') })
  const { catalog, close } = await opening
  const first = catalog.current
  const descriptionIn = ({ primitives: { tools } }: typeof first) => new Set(tools.map(
    ({ json }) => /"description":"(\w+)/.exec(json)?.[1]
  ))
  change()
  await until(() => loads.length === 2, 'the second load')
  loads[1]?.({ tools: toolsOf('Second.') })
  let turns = 0
  for (; catalog.current === first; turns++) {
    if (turns === 1) change()
    await nextTurn()
  }
  t.ok(turns >= 3, `${turns} turns`)
  t.strictSame([...descriptionIn(catalog.current)], ['Second'], 'all of it at once')
  await until(() => loads.length === 3, 'the load of the change in between')
  loads[2]?.({ tools: toolsOf('Third.') })
  await until(() => log.text().split('catalog reloaded').length === 3, 'two reloads')
  t.strictSame([...descriptionIn(catalog.current)], ['Third'])
  await until(() => events.length === 2, 'an event for each')
  t.strictSame(events, [{ type: 'tools-changed' }, { type: 'tools-changed' }])
  await close()
})

t.test('stops watching when it is closed, and does not wait for the load in progress', async (t) => {
  const { loads, change, opening, watched, events } = await openScripted()
  loads[0]?.({ stamps: new Map([['x://a', '1']]) })
  const { catalog, close } = await opening
  const before = catalog.current
  change()
  await until(() => loads.length === 2, 'the second load')
  await within(close(), 'the end')
  loads[1]?.({ stamps: new Map([['x://a', '2']]) })
  await nextTurn()
  t.equal(catalog.current, before)
  t.strictSame(events, [])
  t.notOk(watched())
})

t.test('stops watching if the first load fails', async (t) => {
  const { loads, opening, watched } = await openScripted()
  loads[0]?.({ problems: [{ file: 'a', place: '', rule: 'is wrong' }] })
  await t.rejects(opening, { name: 'CatalogError', message: /a: is wrong/ })
  t.notOk(watched())
})
