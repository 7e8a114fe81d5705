import t from 'tap'
import { runAtOnce, visitAll } from '../../../src/base/turns.ts'
import { findCatalogChange } from '../../../src/catalog/folder/live/catalog-change.ts'
import { createCatalog } from '../../../src/catalog/compiled/catalog.ts'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import { findChangedSpan } from '../../../src/catalog/folder/live/changed-span.ts'
import type { Snapshot } from '../../../src/catalog/compiled/snapshot.ts'
import { defineTool, type ToolDefinition } from '../../../src/index.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'

const TOOLS = 5000
const tool = (index: number, description = 'A tool.') =>
  defineTool({ name: `tool_${String(index).padStart(4, '0')}`, description, run: () => 'a' })
const ALL = Array.from({ length: TOOLS }, (_, index) => tool(index))

function createLoads (offerTurn: () => Promise<void> | undefined = () => undefined) {
  const compiler = new CatalogCompiler({ pageSize: 10, yieldToRequests: offerTurn })
  return async (definitions: readonly ToolDefinition[]): Promise<Snapshot> => await compiler.compile({
    ...EMPTY_CONTENTS,
    tools: definitions.map((definition) => ({ definition, file: `tools/${definition.name}.ts`, place: '' }))
  })
}

/** The snapshot counts the reads of the entries' texts. */
function countReads (snapshot: Snapshot): { snapshot: Snapshot, reads: () => number } {
  let count = 0
  const tools = snapshot.primitives.tools.map((one) => {
    const { json } = one
    return Object.defineProperty(one, 'json', { get () { count++; return json } })
  })
  return { snapshot: { ...snapshot, primitives: { ...snapshot.primitives, tools } }, reads: () => count }
}

t.test('an edit of one tool among 5,000 compares one tool', async (t) => {
  const load = createLoads()
  const { snapshot: before, reads } = countReads(await load(ALL))
  const after = await load(ALL.with(2500, tool(2500, 'Other.')))
  const readsOfLoad = reads()
  const change = await findCatalogChange(before, after)
  t.strictSame(change, { lists: [{ list: 'tools', seenBy: [[]] }], updated: [] })
  t.ok(reads() - readsOfLoad < 10, `${reads()} reads, ${readsOfLoad} of the load`)
})

t.test('the span leaves out both ends, and no entry that differs', (t) => {
  const span = (before: string, after: string) => {
    const found = findChangedSpan([...before], [...after], (a, b) => a === b)
    return [found.before.join(''), found.after.join('')]
  }
  t.strictSame(span('abc', 'abc'), ['', ''])
  t.strictSame(span('abc', 'axc'), ['b', 'x'])
  t.strictSame(span('abc', 'ac'), ['b', ''])
  t.strictSame(span('ac', 'abc'), ['', 'b'])
  t.strictSame(span('aa', 'aaa'), ['', 'a'])
  t.strictSame(span('abc', 'cab'), ['abc', 'cab'])
  t.strictSame(span('', 'a'), ['', 'a'])
  t.end()
})

t.test('others have a turn between the steps of a load and of a comparison', async (t) => {
  let turns = 0
  const offerTurn = async () => { turns++ }
  const load = createLoads(offerTurn)
  const before = await load(ALL)
  t.ok(turns >= TOOLS, 'between definitions')
  turns = 0
  const after = await load(ALL.with(0, tool(0, 'Other.')))
  t.ok(turns >= TOOLS + 20, 'and between the parts of a snapshot')
  turns = 0
  await findCatalogChange(before, after, offerTurn)
  t.ok(turns >= 5, 'and between lists')
})

t.test('a large list is visited in steps, each entry once', (t) => {
  const seen: number[] = []
  const work = visitAll(ALL, (_, index) => { seen.push(index) })
  work.next()
  t.ok(seen.length < TOOLS / 5, 'one step is a small part')
  runAtOnce(work)
  t.strictSame(seen, [...ALL.keys()])
  t.end()
})

t.test('a snapshot that another has replaced is not replaced once more', async (t) => {
  const load = createLoads()
  const [first, second, third] = [await load([]), await load([tool(1)]), await load([tool(2)])]
  const catalog = createCatalog(first)
  t.equal(catalog.replace(first, second), true)
  t.equal(catalog.replace(first, third), false)
  t.equal(catalog.current, second)
})

t.test('when all of 5,000 tools change, others have turns while they are compared', async (t) => {
  const load = createLoads()
  const [before, after] = [await load(ALL), await load(ALL.map((_, index) => tool(index, 'Other.')))]
  let turns = 0
  const change = await findCatalogChange(before, after, () => { turns++; return undefined })
  t.strictSame(change, { lists: [{ list: 'tools', seenBy: [[]] }], updated: [] })
  // Two lists of 5,000 entries, three times each, in steps of 500.
  t.ok(turns >= 60, `${turns} turns`)
})
