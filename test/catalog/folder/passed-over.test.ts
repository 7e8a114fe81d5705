// Which files of the folder count, and that the others are said or are nobody's business.

import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import type { PassedOver } from '../../../src/catalog/compiled/contents.ts'
import type { Snapshot } from '../../../src/catalog/compiled/snapshot.ts'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import { openLiveCatalog } from '../../../src/catalog/folder/live/live-catalog.ts'
import * as trivet from '../../../src/index.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { keysOf } from './definition-modules.ts'

const DEADLINE_MS = 20_000
const SOURCE = { maxResourceBytes: 1_000_000, trivet } as const

async function load (root: string): Promise<{ snapshot: Snapshot, passedOver: readonly PassedOver[] }> {
  const contents = await openCatalogFolder(root, { ...SOURCE, watchMode: 'off' }).load()
  const snapshot = await new CatalogCompiler({ pageSize: 1000 }).compile(contents)
  return { snapshot, passedOver: contents.passedOver }
}

const FOREIGN = [
  '.DS_Store', 'Thumbs.db', 'desktop.ini', 'a.ts~', '.#a.ts', '#a.ts#', 'a.swp', '4913', 'a.tmp',
  '.hidden.ts', '.git/a.ts', 'node_modules/x/a.ts', 'lost+found/a.ts'
]

t.test('foreign files and README are neither loaded nor mentioned', async (t) => {
  const files: Files = Object.fromEntries(['tools', 'prompts', 'resources'].flatMap(
    (folder) => FOREIGN.map((name) => [`${folder}/${name}`, 'no module'])
  ))
  const root = await writeCatalog(t, {
    ...files,
    'tools/README.md': '# Tools',
    'tools/deep/readme': 'Tools',
    'prompts/ReadMe.md': '# Prompts {{x}}',
    'prompts/p.md': 'P',
    'resources/README.md': '# A file as any other',
    'tools/a.test.ts': 'no module',
    'tools/a.ts': toolModule('a'),
    'tools/types.d.ts': 'export type A = string'.replace('export', 'declare module "x"; export'),
    'tools/data.json': '{ "a": 1 }',
    'tools/b.ts': `import data from './data.json' with { type: 'json' }\n${toolModule('b', '', '() => data.a')}`
  })
  const { snapshot: { primitives }, passedOver } = await load(root)
  t.strictSame(keysOf(primitives.tools), ['a', 'b'])
  t.strictSame(keysOf(primitives.prompts), ['p'])
  t.strictSame(keysOf(primitives.listed), ['file:///README.md'])
  t.strictSame(passedOver, [])
})

t.test('modules may have any ending that Node and TypeScript know', async (t) => {
  const cjs = 'const { define } = require(\'./define.cjs\')\nmodule.exports = define(\'c\')'
  const define = `exports.define = (name) => ({
    [Symbol.for('trivet.kind')]: 'tool', name, description: 'A tool.', run: () => 'ok' })`
  const root = await writeCatalog(t, {
    'tools/a.tsx': toolModule('a'),
    'tools/b.cts': toolModule('b'),
    'tools/c.cjs': cjs.replace('./define', '../lib/define'),
    'lib/define.cjs': define,
    'tools/d.jsx': toolModule('d'),
    'resources/r.resource.cts': "import { defineResource } from 'trivet'\nexport default " +
      "defineResource({ uri: 'a://b', name: 'b', read: () => '' })"
  })
  const { snapshot: { primitives }, passedOver } = await load(root)
  t.strictSame(keysOf(primitives.tools), ['a', 'b', 'c', 'd'])
  t.strictSame(keysOf(primitives.listed), ['a://b'])
  t.strictSame(passedOver, [])
})

t.test('a module that exports what others define adds nothing', async (t) => {
  const { snapshot } = await load(await writeCatalog(t, {
    'tools/a.ts': toolModule('a'),
    'tools/index.ts': `export * from './a.ts'
      export { default as again, default } from './a.ts'
      export { default as z } from './z.ts'`,
    'tools/z.ts': toolModule('z')
  }))
  t.strictSame(keysOf(snapshot.primitives.tools), ['a', 'z'])
  t.match(await problemsOf(t, { 'tools/a.ts': toolModule('a'), 'tools/b.ts': toolModule('a') }), [
    { rule: /already defined in tools\/a\.ts$/ }
  ], 'and two tools of one name are still a problem')
})

async function writeOddities (t: Test): Promise<string> {
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a'),
    'tools/notes.txt': 'notes',
    'prompts/old.markdown': 'old',
    'outside.ts': toolModule('b'),
    'resources/a.txt': 'a'
  })
  await symlink('../outside.ts', join(root, 'tools/link.ts'))
  await symlink('nothing.ts', join(root, 'tools/gone.ts'))
  await symlink('..', join(root, 'resources/up'))
  await writeFile(Buffer.concat([Buffer.from(join(root, 'tools/z')), Buffer.of(0xff)]), '')
  await mkdir(join(root, 'resources/deep'))
  await symlink('.', join(root, 'resources/deep/self'))
  return root
}

const EXPECTED = [
  ['prompts/old.markdown', /is no module: .*; and it is not Markdown, whose names end in \.md$/],
  ['resources/deep/self', /^is a link to a folder that it lies in$/],
  ['resources/up', /^is a link that leads out of its folder: /],
  ['tools/gone.ts', /^is a link to nothing$/],
  ['tools/link.ts', /^is a link that leads out of its folder: put the file itself here$/],
  ['tools/notes.txt', /^is no module: the names of modules end in /],
  ['tools/z\u{fffd}', /^has a name that is not UTF-8: rename it$/]
] as const

t.test('every other file that is not loaded is named with the reason, and in the log', async (t) => {
  const root = await writeOddities(t)
  const { passedOver } = await load(root)
  const sorted = passedOver.toSorted((a, b) => a.file < b.file ? -1 : 1)
  t.strictSame(sorted.map(({ file }) => file), EXPECTED.map(([file]) => file))
  for (const [index, [, reason]] of EXPECTED.entries()) t.match(sorted[index]?.reason, reason)
  const { logger, lines } = createReadableLog('info')
  const { logLevel, ...quiet } = QUIET
  const app = await createApp({ catalog: root, ...quiet, logger })
  t.teardown(async () => await app.close())
  const logged = lines.filter(({ msg }) => msg === 'files of the catalog are passed over')
  t.equal(logged.length, 1)
  t.strictSame(logged[0]?.files.toSorted(), sorted.map(({ file, reason }) => `${file} ${reason}`))
})

t.test('a sidecar that is a link to elsewhere is a problem: its file would be open', async (t) => {
  const root = await writeCatalog(t, { 'resources/a.txt': 'a', 'secret.yaml': 'scopes: [a]' })
  await symlink('../secret.yaml', join(root, 'resources/a.txt.meta.yaml'))
  const error: unknown = await load(root).catch((thrown: unknown) => thrown)
  t.match(error, { problems: [{ file: 'resources/a.txt.meta.yaml', rule: /leads out/ }] })
})

/** The folders and files that this process watches. */
async function countWatches (): Promise<number> {
  const descriptors = await readdir('/proc/self/fdinfo')
  const texts = await Promise.all(
    descriptors.map(async (fd) => await readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => ''))
  )
  return texts.join('\n').split('\n').filter((line) => line.startsWith('inotify wd:')).length
}

interface Watched { reloads (): number, untilReload (count: number): Promise<void> }

async function watch (t: Test, root: string): Promise<Watched> {
  const { logger, lines } = createReadableLog('info')
  const source = openCatalogFolder(root, { ...SOURCE, watchMode: 'on' })
  const { close } = await openLiveCatalog(source, createLocalBroadcast(), logger, { pageSize: 10 })
  t.teardown(close)
  const reloads = () => lines.filter(({ msg }) => msg.startsWith('catalog ')).length
  return {
    reloads,
    async untilReload (count) { await until(() => reloads() >= count, `reload ${count}`, DEADLINE_MS) }
  }
}

t.test('nobody watches node_modules, hidden folders and what watchIgnore names', {
  skip: process.platform !== 'linux' && 'needs /proc'
}, async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a'), 'server.yaml': 'watchIgnore: [data/**, "**/*.csv"]'
  })
  for (let index = 0; index < 200; index++) {
    for (const folder of ['node_modules', 'lib/node_modules', '.git', 'data']) {
      await writeInPlace(root, `${folder}/part-${index}/a.js`, '')
    }
  }
  const before = await countWatches()
  await watch(t, root)
  const added = await countWatches() - before
  t.ok(added > 2 && added < 20, `${added} watches`)
})

t.test('watchIgnore leaves changes unnoticed, and may change', async (t) => {
  const root = await writeCatalog(t, {
    'server.yaml': 'name: one\nwatchIgnore: [resources/data/**, "**/*.csv"]',
    'tools/a.ts': toolModule('a'),
    'resources/a.txt': 'a',
    'resources/a.csv': 'a',
    'resources/data/a.txt': 'a'
  })
  const { reloads, untilReload } = await watch(t, root)
  await writeInPlace(root, 'resources/a.csv', 'b')
  await writeInPlace(root, 'resources/data/a.txt', 'b')
  await writeInPlace(root, 'resources/data/new.txt', 'b')
  await new Promise((resolve) => setTimeout(resolve, 400))
  t.equal(reloads(), 0)
  await writeInPlace(root, 'resources/a.txt', 'b')
  await untilReload(1)
  await writeInPlace(root, 'server.yaml', 'name: two\nwatchIgnore: [resources/a.txt]')
  await untilReload(3)
  const settled = reloads()
  await writeInPlace(root, 'resources/a.txt', 'c')
  await new Promise((resolve) => setTimeout(resolve, 400))
  t.equal(reloads(), settled)
  await writeInPlace(root, 'resources/data/a.txt', 'c')
  await untilReload(settled + 1)
})

t.test('watchIgnore must be a list of globs', async (t) => {
  for (const [yaml, rule] of [
    ['watchIgnore: data', /^watchIgnore: must be array/], ['watchIgnore: [1]', /^watchIgnore\[0\]: must be string/],
    ['watchIgnroe: []', /did you mean watchIgnore\?$/]
  ] as const) {
    t.match(await problemsOf(t, { 'server.yaml': yaml }), [{ file: 'server.yaml', rule }], yaml)
  }
})
