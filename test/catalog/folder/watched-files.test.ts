// Which changes reload the catalog, and which replaced folders are noticed.

import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { Catalog } from '../../../src/catalog/compiled/catalog.ts'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import { isPart } from '../../../src/catalog/folder/catalog-parts.ts'
import { openLiveCatalog } from '../../../src/catalog/folder/live/live-catalog.ts'
import * as trivet from '../../../src/index.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'

const DEADLINE_MS = 20_000
const MODES = ['on', 'poll'] as const

interface Watched { readonly catalog: Catalog, readonly log: ReadableLog, reloads (): number }

async function openWatched (t: Test, root: string, watchMode: 'on' | 'poll'): Promise<Watched> {
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode, trivet })
  const log = createReadableLog()
  const { catalog, close } = await openLiveCatalog(
    source, createLocalBroadcast(), log.logger, { pageSize: 10 }
  )
  t.teardown(close)
  return {
    catalog, log, reloads: () => log.lines.filter(({ msg }) => msg.startsWith('catalog ')).length
  }
}

const titled = (title: string): Files => ({ 'tools/a.ts': toolModule('a', `title: '${title}'`) })

async function untilTitle ({ catalog }: Watched, title: string): Promise<void> {
  const holds = () => catalog.current.primitives.tools[0]?.json.includes(`"title":"${title}"`) === true
  await until(holds, `the title ${title}`, DEADLINE_MS)
}

/** The ways to replace a folder. Each returns the path of the catalog, and a function that replaces it. */
const REPLACEMENTS: ReadonlyArray<readonly [string, (parent: string) => Promise<{
  root: string, replace (version: string): Promise<void>
}>]> = [
  ['the folder is removed and made again', async (parent) => {
    const root = join(parent, 'catalog')
    return {
      root,
      async replace (version) {
        await rm(root, { recursive: true, force: true })
        await writeFiles(root, titled(version))
      }
    }
  }],
  ['another folder is moved to its place', async (parent) => {
    const root = join(parent, 'catalog')
    return {
      root,
      async replace (version) {
        await writeFiles(join(parent, version), titled(version))
        await rename(root, join(parent, `before ${version}`)).catch(() => {})
        await rename(join(parent, version), root)
      }
    }
  }],
  ['the folder is a link that is swapped', async (parent) => {
    const root = join(parent, 'catalog')
    return {
      root,
      async replace (version) {
        await writeFiles(join(parent, version), titled(version))
        await swapLink(root, version)
      }
    }
  }],
  ['a link above the folder is swapped, as by git-sync', async (parent) => {
    return {
      root: join(parent, 'current/catalog'),
      async replace (version) {
        await writeFiles(join(parent, version, 'catalog'), titled(version))
        await swapLink(join(parent, 'current'), version)
      }
    }
  }],
  ['a link in the folder is swapped', async (parent) => {
    return {
      root: parent,
      async replace (version) {
        await writeFiles(join(parent, version), titled(version))
        await swapLink(join(parent, 'tools'), join(version, 'tools'))
      }
    }
  }]
]

const prefixed = (folder: string, files: Files): Files => Object.fromEntries(
  Object.entries(files).map(([path, contents]) => [`${folder}/${path}`, contents])
)

async function writeFiles (root: string, files: Files): Promise<void> {
  await mkdir(root, { recursive: true })
  for (const [path, contents] of Object.entries(files)) await writeInPlace(root, path, contents)
}

async function swapLink (path: string, target: string): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}`)
  await symlink(target, beside)
  await rename(beside, path)
}

for (const mode of MODES) {
  for (const [what, prepare] of REPLACEMENTS) {
    t.test(`notices that ${what}, and the edits after it (${mode})`, async (t) => {
      const { root, replace } = await prepare(await writeCatalog(t, {}))
      await replace('one')
      const watched = await openWatched(t, root, mode)
      await untilTitle(watched, 'one')
      for (const version of ['two', 'three']) {
        await replace(version)
        await untilTitle(watched, version)
      }
      // The new folder may not be watched yet. A reload follows as soon as it is.
      await writeFiles(root, titled('edited'))
      await untilTitle(watched, 'edited')
    })
  }
}

t.test('serves the last catalog while the folder is missing, and notices its return', async (t) => {
  const root = await writeCatalog(t, titled('one'))
  const watched = await openWatched(t, root, 'on')
  await rm(root, { recursive: true })
  await until(() => watched.log.text().includes('is not a folder'), 'a problem', DEADLINE_MS)
  await untilTitle(watched, 'one')
  await writeFiles(root, titled('two'))
  await untilTitle(watched, 'two')
})

t.test('a module that writes a file beside itself is loaded once', async (t) => {
  const write = "import { appendFileSync } from 'node:fs'\n" +
    ['notes.txt', 'state.json', 'shop.sqlite', 'shop.sqlite-wal', 'a.log', 'a.db', '.hidden.ts'].map(
      (name) => `appendFileSync(import.meta.dirname + '/${name}', 'x')\n`
    ).join('')
  const root = await writeCatalog(t, { 'tools/a.ts': write + toolModule('a', "title: 'one'") })
  const watched = await openWatched(t, root, 'on')
  await writeInPlace(root, 'lib/marker.ts', '')
  await until(() => watched.reloads() > 0, 'the reload by the marker', DEADLINE_MS)
  const before = watched.reloads()
  await writeInPlace(root, 'lib/marker.ts', '// edited')
  await until(() => watched.reloads() > before, 'the reload by the edit', DEADLINE_MS)
  t.equal(watched.reloads(), before + 1, 'the writes of the load between them reloaded nothing')
})

t.test('a change of an imported file that is no code reloads the catalog', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': "import title from '../data/title.json' with { type: 'json' }\n" + toolModule('a', 'title'),
    'data/title.json': '"one"',
    'tools/c.ts': "import title from '../lib/c.cjs'\n" + toolModule('c', 'title'),
    'lib/c.cjs': "module.exports = require('./c.json')",
    'lib/c.json': '"one"'
  })
  const watched = await openWatched(t, root, 'on')
  await writeInPlace(root, 'data/title.json', '"two"')
  await untilTitle(watched, 'two')
  await writeInPlace(root, 'lib/c.json', '"three"')
  const third = () => watched.catalog.current.primitives.tools[1]?.json.includes('"title":"three"') === true
  await until(third, 'the title of c', DEADLINE_MS)
})

t.test('a folder of tools that is moved in, moved away or renamed reloads the catalog', async (t) => {
  const parent = await writeCatalog(t, {
    ...prefixed('catalog', titled('one')), 'aside/b.ts': toolModule('b')
  })
  const root = join(parent, 'catalog')
  const { catalog } = await openWatched(t, root, 'on')
  const untilKeys = async (...keys: string[]) => await until(
    () => catalog.current.primitives.tools.map(({ key }) => key).join() === keys.join(), keys.join(),
    DEADLINE_MS
  )
  await rename(join(parent, 'aside'), join(root, 'tools/more'))
  await untilKeys('a', 'b')
  await writeInPlace(root, 'tools/more/b.ts', toolModule('c'))
  await untilKeys('a', 'c')
  await rename(join(root, 'tools/more'), join(root, 'tools/most'))
  await writeInPlace(root, 'tools/most/deep/d.ts', toolModule('d'))
  await untilKeys('a', 'c', 'd')
  await rename(join(root, 'tools/most'), join(parent, 'gone'))
  await untilKeys('a')
})

t.test('an edit of a file that a link leads to reloads the catalog', async (t) => {
  const parent = await writeCatalog(t, {
    ...prefixed('catalog', {
      'tools/a.ts': "import title from '../lib/title.ts'\n" + toolModule('a', 'title')
    }),
    'shared/title.ts': "export default 'one'",
    'other/title.ts': "export default 'three'"
  })
  const root = join(parent, 'catalog')
  await mkdir(join(root, 'lib'))
  await symlink('../../shared/title.ts', join(root, 'lib/title.ts'))
  const watched = await openWatched(t, root, 'on')
  await writeInPlace(parent, 'shared/title.ts', "export default 'two'")
  await untilTitle(watched, 'two')
  await swapLink(join(root, 'lib/title.ts'), '../../other/title.ts')
  await untilTitle(watched, 'three')
  await writeInPlace(parent, 'other/title.ts', "export default 'four'")
  await untilTitle(watched, 'four')
})

t.test('a folder of other files that comes and goes reloads nothing', async (t) => {
  const root = await writeCatalog(t, titled('one'))
  const watched = await openWatched(t, root, 'on')
  await writeFiles(root, { 'work/deep/notes.txt': 'x', 'work/more.txt': 'x' })
  await rename(join(root, 'work'), join(root, 'done'))
  await rm(join(root, 'done'), { recursive: true })
  await writeInPlace(root, 'tools/a.ts', toolModule('a', "title: 'two'"))
  await untilTitle(watched, 'two')
  t.equal(watched.reloads(), 1)
})

t.test('counts the files that the catalog is made of', (t) => {
  const imported = new Set(['data/rates.json', 'data/app.db'])
  for (const path of [
    'server.yaml', 'tools/a.ts', 'tools/deep/a.mjs', 'lib/a.cjs', 'lib/new.tsx', 'prompts/p.md',
    'resources/x', 'resources/deep/data.csv', 'data/rates.json', 'resources/openapi.spec.json'
  ]) t.ok(isPart(path, imported), path)
  for (const path of [
    'server.yaml.bak', 'tools/README.md', 'tools/data.json', 'prompts/p.txt', 'data/other.json',
    'data/app.db', 'tools/a.test.ts', 'test/a.spec.mjs', 'prompts/p.test.md', 'resources/a.resource.test.ts',
    'resources/shop.sqlite', 'resources/shop.sqlite3', 'resources/shop.sqlite-wal', 'resources/x-shm',
    'resources/x.log', 'resources/.env', '.git/config.ts', 'tools/node_modules/a.js', 'lost+found/a.ts'
  ]) t.notOk(isPart(path, imported), path)
  t.end()
})
