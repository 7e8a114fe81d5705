import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findNamedChanges } from '../../../src/catalog/folder/live/named-changes.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { readCatalog } from '../../helpers/load-catalog.ts'

const FILES = {
  'tools/a.ts': `import '../lib/shared.ts'\n${toolModule('a')}`,
  'tools/b.ts': toolModule('b'),
  'prompts/p.md': 'Hello.\n',
  'prompts/q.md': 'Hello.\n',
  'resources/a.md': '# a',
  'resources/b.md': '# b',
  'lib/shared.ts': ''
}

async function changesAfter (t: Test, changed: Files, gone: readonly string[] = []): Promise<string[]> {
  const root = await writeCatalog(t, FILES)
  const { contents: { fileDigests }, snapshot } = await readCatalog(root)
  for (const [path, contents] of Object.entries(changed)) await writeInPlace(root, path, contents)
  for (const path of gone) await rm(join(root, path))
  return await findNamedChanges({ fileDigests, snapshot }, await readCatalog(root))
}

t.test('primitives that are new, gone or edited, also where no list shows it', async (t) => {
  t.strictSame(await changesAfter(t, {
    'tools/b.ts': toolModule('b', '', "() => 'other'"),
    'tools/c.ts': toolModule('c'),
    'prompts/p.md': 'Goodbye.\n',
    'resources/a.md': '# other'
  }, ['prompts/q.md', 'resources/b.md']), [
    '~ tool b', '+ tool c', '~ prompt p', '- prompt q', '~ resource file:///a.md', '- resource file:///b.md'
  ])
})

t.test('files that define nothing, and the settings', async (t) => {
  t.strictSame(await changesAfter(t, { 'lib/shared.ts': 'export {}\n', 'server.yaml': 'title: Other\n' }), [
    '~ lib/shared.ts', '~ server.yaml'
  ])
  const added = await changesAfter(t, { 'lib/shared.ts': "import './more.ts'\n", 'lib/more.ts': '' })
  t.strictSame(added.toSorted(), ['+ lib/more.ts', '~ lib/shared.ts'])
  t.strictSame(await changesAfter(t, {}), [])
})

t.test('many names are counted', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => (
    [`prompts/n${index}.md`, 'Hello.\n']
  )))
  const changes = await changesAfter(t, many)
  t.equal(changes.length, 21)
  t.equal(changes.at(-1), 'and 5 more')
})
