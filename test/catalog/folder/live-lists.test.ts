import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { CatalogContents } from '../../../src/catalog/compiled/contents.ts'
import { openLiveCatalog, type LiveCatalog } from '../../../src/catalog/folder/live/live-catalog.ts'
import type { LiveListsOptions } from '../../../src/catalog/folder/live/live-lists.ts'
import {
  defineResource, defineResourceTemplate, defineTool, type ListedResource, type ResourceTemplateOptions
} from '../../../src/index.ts'
import { createLegacySnapshots } from '../../../src/edges/legacy/sessions/snapshots.ts'
import type { ChangeEvent } from '../../../src/platform/store/changes/change-event.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { until } from '../../helpers/deadline.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'

/** What the template lists, which a test changes, and how often it was asked. */
class Notes {
  ids: readonly string[] = ['1']
  scopes: readonly string[] | undefined
  /** Each list waits for it. */
  gate: Promise<unknown> | undefined
  asked = 0
  running = 0
  mostRunning = 0

  readonly list = async (): Promise<ListedResource[]> => {
    this.asked++
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    const { ids, scopes } = this
    await (this.gate ?? pause(2))
    this.running--
    return ids.map((id) => ({ name: id, variables: { id }, ...(scopes !== undefined && { scopes }) }))
  }
}

interface Opened {
  readonly live: LiveCatalog
  readonly log: ReadableLog
  readonly events: ChangeEvent[]
  readonly uris: () => string[]
  readonly reload: (contents: Partial<CatalogContents>) => void
}

const at = <D>(definition: D) => ({ definition, file: 'resources/a.ts', place: 'a' })

function templateOf ({ list }: Notes, options: Partial<ResourceTemplateOptions> = {}) {
  return at(defineResourceTemplate({ uriTemplate: 'note://{id}', name: 'notes', list, read: () => '', ...options }))
}

async function open (
  t: Test, contents: Partial<CatalogContents>, options: LiveListsOptions = {},
  broadcast = createLocalBroadcast()
): Promise<Opened> {
  let current = contents
  let onChange: (() => void) | undefined
  const events: ChangeEvent[] = []
  t.teardown(broadcast.subscribe((event) => { if (event.type !== 'resources-outdated') events.push(event) }))
  const log = createReadableLog('info')
  const live = await openLiveCatalog({
    name: 'test',
    accepted () {},
    forget () {},
    load: async () => ({ ...EMPTY_CONTENTS, ...current }),
    async watch (listener) {
      onChange = listener
      return async () => {}
    }
  }, broadcast, log.logger, { pageSize: 10, listIntervalMs: 1, ...options })
  t.teardown(async () => await live.close())
  return {
    live,
    log,
    events,
    uris: () => live.catalog.current.primitives.listed.map(({ key }) => key),
    reload (next) {
      current = next
      onChange?.()
    }
  }
}

const saidOf = ({ lines }: ReadableLog): string[] => lines.map(({ msg }) => msg)
const CHANGED: ChangeEvent = { type: 'resources-changed' }

t.test('makes the lists again when a handler says so, and tells clients of a difference (162)', async (t) => {
  const notes = new Notes()
  const { live, events, uris, log } = await open(t, { templates: [templateOf(notes)] })
  live.lists.outdate()
  await live.lists.settle()
  t.equal(notes.asked, 2)
  t.strictSame([events, saidOf(log)], [[], []], 'the same list is no change')
  const { version } = live.catalog.current
  notes.ids = ['2', '1']
  live.lists.outdate()
  t.strictSame(uris(), ['note://1'], 'in the background')
  await live.lists.settle()
  t.strictSame(uris(), ['note://1', 'note://2'])
  t.strictSame(events, [CHANGED])
  const { version: next } = live.catalog.current
  t.not(next, version, 'the version covers all that is served')
  t.match(log.lines, [{ msg: 'resources listed again', lists: ['resources'], version: next }])
})

t.test('a thousand calls a second run a list once a second, and never twice at a time', async (t) => {
  const notes = new Notes()
  const { live, uris } = await open(t, { templates: [templateOf(notes)] }, { listIntervalMs: 100 })
  const began = performance.now()
  for (let call = 0; call < 1000; call++) {
    notes.ids = [String(call)]
    live.lists.outdate()
    if (call % 100 === 0) await pause(1)
  }
  await until(() => uris().includes('note://999'), 'the last list')
  t.ok(notes.asked <= 3 + (performance.now() - began) / 100, `${notes.asked} runs`)
  t.equal(notes.mostRunning, 1)
})

t.test('makes a list again that is older than listTtlMs, once it is asked for', async (t) => {
  let time = 1_000_000
  const [aging, still] = [new Notes(), new Notes()]
  const { live, events, uris } = await open(t, {
    templates: [
      templateOf(aging, { listTtlMs: 5000 }), templateOf(still, { uriTemplate: 'still://{id}', name: 'still' })
    ]
  }, { now: () => time })
  aging.ids = ['2']
  const use = async () => {
    for (let request = 0; request < 50; request++) live.lists.noteUse()
    await live.lists.settle()
  }
  time += 4999
  await use()
  t.equal(aging.asked, 1, 'not before')
  time++
  await live.lists.settle()
  t.equal(aging.asked, 1, 'not without a request')
  live.lists.noteUse()
  t.ok(uris().includes('note://1'), 'the request gets the old list')
  await live.lists.settle()
  t.ok(uris().includes('note://2'))
  await use()
  t.strictSame([aging.asked, still.asked], [2, 1], 'only the list whose time is over')
  time += 5000
  await use()
  t.equal(aging.asked, 3)
  t.strictSame(events, [CHANGED])
})

t.test('keeps a list with problems, and the lists of other templates change', async (t) => {
  let time = 0
  const [good, bad] = [new Notes(), new Notes()]
  let list: () => unknown = bad.list
  const { live, uris, log } = await open(t, {
    templates: [
      templateOf(good),
      templateOf(bad, { uriTemplate: 'bad://{id}', name: 'bad', listTtlMs: 1000, list: () => list() as never })
    ],
    resources: [at(defineResource({ uri: 'note://fixed', name: 'fixed', read: () => '' }))]
  }, { now: () => time, listDeadlineMs: 20 })
  for (const [broken, rule] of [
    [() => { throw new Error('no database') }, 'failed: no database'],
    [() => Array(5000).fill({ name: 'a' }), 'must have either uri or variables'],
    [() => 'text', 'failed: it must return a list'],
    [() => [{ name: 'both', uri: 'bad://1', variables: {} }], 'must have either uri or variables'],
    [() => Array(100_001).fill({ name: 'a', uri: 'a://a' }), /it returned 100001 resources, the limit is 100000/],
    [async () => await new Promise(() => {}), /it did not end within 0.02 s/]
  ] as const) {
    list = broken
    good.ids = [...good.ids, String(good.ids.length + 1)]
    live.lists.outdate()
    await live.lists.settle()
    t.match(log.lines.findLast(({ level }) => level === 50), {
      msg: 'resources not listed again: the lists from before are served',
      problems: [{ file: 'resources/a.ts', rule }]
    })
    t.ok(log.lines.every(({ problems = [] }) => problems.length <= 100))
    t.strictSame(uris(), ['bad://1', ...good.ids.map((id) => `note://${id}`), 'note://fixed'])
  }
  const runs = bad.asked
  list = bad.list
  live.lists.noteUse()
  await live.lists.settle()
  t.equal(bad.asked, runs, 'a failed run is made again when the time is over')
  time += 1000
  live.lists.noteUse()
  await live.lists.settle()
  t.equal(bad.asked, runs + 1)

  good.ids = ['fixed']
  live.lists.outdate()
  await live.lists.settle()
  t.match(log.lines.findLast(({ level }) => level === 50).problems, [
    { rule: 'the resource "note://fixed" is already defined in another file' }
  ])
  t.equal(uris().length, 9, 'a URI that is used twice keeps all lists')
})

t.test('the signal of a list aborts at its deadline', async (t) => {
  let aborted: unknown
  const list = async ({ signal }: { signal: AbortSignal }): Promise<ListedResource[]> => {
    if (isFirst) return []
    signal.addEventListener('abort', () => { aborted = signal.reason })
    return await new Promise(() => {})
  }
  let isFirst = true
  const { live } = await open(t, { templates: [templateOf(new Notes(), { list })] }, { listDeadlineMs: 5 })
  isFirst = false
  live.lists.outdate()
  await live.lists.settle()
  t.match(aborted, { message: /did not end within/ })
})

t.test('a reload that happens meanwhile wins, and its lists are made once more', async (t) => {
  const [before, after] = [new Notes(), new Notes()]
  after.ids = ['reloaded']
  const { live, uris, reload } = await open(t, { templates: [templateOf(before)] })
  let openGate = (): void => {}
  before.gate = new Promise<void>((resolve) => { openGate = resolve })
  before.ids = ['old']
  live.lists.outdate()
  await until(() => before.running === 1, 'the run')
  reload({ templates: [templateOf(after)] })
  await until(() => uris().includes('note://reloaded'), 'the reload')
  openGate()
  await until(() => after.asked === 2, 'the list of the new module')
  await live.lists.settle()
  t.strictSame(uris(), ['note://reloaded'])
})

t.test('a change during a load is not lost', async (t) => {
  const notes = new Notes()
  const { live, uris, reload } = await open(t, { templates: [templateOf(notes)] })
  reload({ templates: [templateOf(notes, { title: 'reloaded' })] })
  await until(() => notes.running === 1, 'the load')
  notes.ids = ['2']
  live.lists.outdate()
  await until(() => uris().includes('note://2'), 'the change')
})

t.test('what is not listed again keeps its pages and its forms', async (t) => {
  const notes = new Notes()
  const tools = [at(defineTool({ name: 'tool', run: () => '' }))]
  const { live } = await open(t, { tools, templates: [templateOf(notes)] })
  const anyone = { scopes: new Set<string>() }
  const forms = createLegacySnapshots()
  const snapshots = () => [live.catalog.current, forms.in(live.catalog.current, '2025-06-18')]
  const pagesOf = () => snapshots().map((snapshot) => {
    const { tools, resources } = snapshot.view(anyone)
    return [tools.page(undefined), resources.page(undefined)]
  })
  const before = pagesOf()
  notes.ids = ['2']
  live.lists.outdate()
  await live.lists.settle()
  for (const [index, [tools, resources]] of pagesOf().entries()) {
    t.equal(tools, before[index]?.[0], 'the same bytes')
    t.match(String(resources), 'note://2')
  }
})

t.test('replicas make their lists again together', async (t) => {
  let time = 0
  const broadcast = createLocalBroadcast()
  const all = [new Notes(), new Notes()]
  const replicas = await Promise.all(all.map(
    async (notes) => {
      const templates = [templateOf(notes, { listTtlMs: 1000 })]
      return await open(t, { templates }, { now: () => time }, broadcast)
    }
  ))
  const settle = async () => {
    for (const { live } of replicas) await live.lists.settle()
  }
  const change = (id: string) => { for (const notes of all) notes.ids = [id] }
  const versions = () => new Set(replicas.map(({ live }) => live.catalog.current.version)).size
  for (const [id, act] of [
    ['told', () => replicas[0]?.live.lists.outdate()],
    ['old', () => { time += 1000; replicas[1]?.live.lists.noteUse() }],
    ['missed', () => { broadcast.publish({ type: 'events-missed' }).catch(() => {}) }]
  ] as const) {
    change(id)
    act()
    await settle()
    for (const { uris } of replicas) t.strictSame(uris(), [`note://${id}`])
    t.equal(versions(), 1)
  }
  for (const notes of all) t.equal(notes.asked, 4, 'and each only once')
})

t.test('only callers who see a difference are told (107)', async (t) => {
  const notes = new Notes()
  const { live, events } = await open(t, { templates: [templateOf(notes)] })
  notes.scopes = ['secret']
  notes.ids = ['1']
  live.lists.outdate()
  await live.lists.settle()
  notes.ids = ['1', '2']
  live.lists.outdate()
  await live.lists.settle()
  t.strictSame(events, [CHANGED, { ...CHANGED, seenBy: [['secret']] }])
})

t.test('a catalog without lists does nothing, and a closed one neither', async (t) => {
  const plain = at(defineResourceTemplate({ uriTemplate: 'a://{a}', name: 'a', read: () => '' }))
  const { live } = await open(t, { templates: [plain] })
  live.lists.outdate()
  live.lists.noteUse()
  await live.lists.settle()
  const notes = new Notes()
  const { live: closed } = await open(t, { templates: [templateOf(notes, { listTtlMs: 1000 })] })
  await closed.close()
  closed.lists.outdate()
  await closed.lists.settle()
  t.equal(notes.asked, 1)
})

t.test('says which lists can change while the catalog is not loaded again', async (t) => {
  const changing = async (options?: Partial<ResourceTemplateOptions>) => {
    const templates = options === undefined ? [] : [templateOf(new Notes(), options)]
    return [...(await open(t, { templates })).live.findChangingLists(false)]
  }
  t.strictSame(await changing(), [])
  t.strictSame(await changing({}), ['resources'])
  t.strictSame(await changing({ scopes: ['a'], whenMissing: 'challenge' }), ['resources'])
  t.strictSame(await changing({ scopes: ['a'] }), [], 'a hidden template must not be noticed')
})
