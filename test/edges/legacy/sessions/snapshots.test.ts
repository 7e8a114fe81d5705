// The catalog in the forms of earlier revisions: made in turns, once, and only where something has changed.

import t from 'tap'
import { replaceTime } from '../../../../src/base/time.ts'
import { CatalogCompiler } from '../../../../src/catalog/compiled/compile-catalog.ts'
import type { Snapshot } from '../../../../src/catalog/compiled/snapshot.ts'
import { defineTool } from '../../../../src/index.ts'
import { createLegacySnapshots } from '../../../../src/edges/legacy/sessions/snapshots.ts'
import { EMPTY_CONTENTS } from '../../../helpers/empty-contents.ts'

const TOOLS = 5000
const ANYONE = { scopes: new Set<string>() }
const compiler = new CatalogCompiler({ pageSize: 10_000, yieldToRequests: () => undefined })
const ALL = Array.from({ length: TOOLS }, (_, index) => toolOf(index, 'A tool.'))

function toolOf (index: number, description: string) {
  const name = `tool_${String(index).padStart(4, '0')}`
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } } as const
  return defineTool({ name, title: 'Tool', description, inputSchema, run: () => 'a' })
}

async function load (definitions: typeof ALL): Promise<Snapshot> {
  const tools = definitions.map((definition) => (
    { definition, file: `tools/${definition.name}.ts`, place: '' }
  ))
  return await compiler.compile({ ...EMPTY_CONTENTS, tools })
}

const listOf = (snapshot: Snapshot) => String(snapshot.view(ANYONE).tools.page(undefined))

t.test('a form of 5,000 tools is made with turns for others', async (t) => {
  const snapshot = await load(ALL)
  const forms = createLegacySnapshots()
  // On a machine as slow as this clock each step takes its whole time.
  let time = 0
  t.teardown(replaceTime({ monotonic: () => ++time * 10 }))
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const preparing = [forms.prepare(snapshot, '2025-06-18'), forms.prepare(snapshot, '2025-06-18')]
  t.equal(preparing[0], preparing[1], 'two requests wait for one preparation')
  await Promise.all(preparing)
  isOver = true
  // Lists of 5,000 entries, in steps of 50 and more.
  t.ok(turns > 100, `others had ${turns} turns`)
  t.equal(forms.prepare(snapshot, '2025-06-18'), undefined, 'the form is there')
  const form = forms.in(snapshot, '2025-06-18')
  t.equal(form, forms.in(snapshot, '2025-06-18'))
  t.equal(listOf(form), listOf(createLegacySnapshots().in(snapshot, '2025-06-18')))
  t.not(forms.prepare(snapshot, '2024-11-05'), undefined, 'each revision has its own form')
})

t.test('a form that a request made meanwhile stays', async (t) => {
  const snapshot = await load(ALL)
  const forms = createLegacySnapshots()
  const preparing = forms.prepare(snapshot, '2025-03-26')
  const form = forms.in(snapshot, '2025-03-26')
  await preparing
  t.equal(forms.in(snapshot, '2025-03-26'), form)
})

t.test('after an edit only the changed tool is converted again', async (t) => {
  const before = await load(ALL)
  const forms = createLegacySnapshots()
  await forms.prepare(before, '2025-06-18')
  const after = await load(ALL.with(7, toolOf(7, 'Other.')))
  await forms.prepare(after, '2025-06-18')
  const [old, current] = [before, after].map((snapshot) => forms.in(snapshot, '2025-06-18').primitives.tools)
  const changed = current?.filter((tool, index) => tool !== old?.[index]) ?? []
  t.strictSame(changed.map(({ key }) => key), ['tool_0007'])
})
