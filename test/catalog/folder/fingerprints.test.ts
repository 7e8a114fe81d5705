// The fingerprint of a tool with tasks: it changes with the code that the tool runs, and with nothing else.

import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import * as trivet from '../../../src/index.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

const PACKAGE = 'node_modules/@acme/shop'
const TASK = "task: 'allowed'"

const FILES: Files = {
  'tools/a.ts': "import { one } from '../lib/one.ts'\nimport { open } from '@acme/shop/open'\n" +
    toolModule('a', TASK, '() => String([one, open])'),
  'tools/b.js': `import common from '../lib/common.cjs'\n${toolModule('b', TASK, '() => common.value')}`,
  'tools/c.ts': toolModule('c', TASK, "async () => (await import('../lib/late.ts')).late"),
  'tools/f.ts': toolModule('f', TASK, 'async () => (await import(`../lib/text.ts`)).text'),
  'lib/text.ts': 'export const text = 1\n',
  'tools/d.ts': "const { two } = await import(['../lib/two', 'ts'].join('.'))\n" +
    toolModule('d', TASK, '() => two'),
  'tools/e.ts': toolModule('e', TASK),
  'tools/plain.ts': "import '../lib/one.ts'\n" + toolModule('plain'),
  'lib/one.ts': "import { two } from './two.ts'\nexport const one = () => two\n",
  'lib/two.ts': "import data from './data.json' with { type: 'json' }\nimport { one } from './one.ts'\n" +
    'export const two = [data, () => one]\n',
  'lib/data.json': '{ "x": 1 }',
  'lib/common.cjs': "exports.value = require('./deep.cjs').value\n",
  'lib/deep.cjs': 'exports.value = 1\n',
  'lib/late.ts': "import { later } from './later.ts'\nexport const late = later\n",
  'lib/later.ts': 'export const later = 1\n',
  'lib/stranger.ts': 'export const stranger = 1\n',
  [`${PACKAGE}/package.json`]: '{ "version": "1.0.0", "exports": { "./open": "./x.mjs" } }',
  [`${PACKAGE}/x.mjs`]: 'export const open = 1\n'
}

async function fingerprintsOf (root: string): Promise<{ readonly [tool: string]: string | undefined }> {
  const { primitives: { tools } } = await loadSnapshot(root)
  return Object.fromEntries(tools.map(({ key, task }) => [key, task?.fingerprint]))
}

/** The tools whose fingerprints differ. */
async function changedBy (t: Test, changes: Files): Promise<string> {
  const before = await fingerprintsOf(await writeCatalog(t, FILES))
  const after = await fingerprintsOf(await writeCatalog(t, { ...FILES, ...changes }))
  return Object.keys(before).filter((key) => before[key] !== after[key]).join('')
}

t.test('is the same wherever and whenever the same files were written', async (t) => {
  const [one, other] = [await writeCatalog(t, FILES), await writeCatalog(t, FILES)]
  for (const path of Object.keys(FILES)) await utimes(join(other, path), 1, 1)
  const fingerprints = await fingerprintsOf(one)
  t.strictSame(await fingerprintsOf(other), fingerprints)
  t.strictSame(await fingerprintsOf(one), fingerprints)
  const { plain, ...tasks } = fingerprints
  t.equal(plain, undefined, 'a tool without tasks needs none')
  for (const fingerprint of Object.values(tasks)) t.match(fingerprint, /^[\w-]{43}$/)
  t.equal(new Set(Object.values(tasks)).size, 6)
})

t.test('changes with what the tool imports, and only with that', async (t) => {
  const cases: ReadonlyArray<readonly [string, Files, string]> = [
    ['its own module', { 'tools/e.ts': toolModule('e', TASK, '() => "other"') }, 'e'],
    ['an imported module', { 'lib/one.ts': `${FILES['lib/one.ts']}// More.\n` }, 'ad'],
    ['a module that is imported in a circle', { 'lib/two.ts': `${FILES['lib/two.ts']}// More.\n` }, 'ad'],
    ['imported JSON', { 'lib/data.json': '{ "x": 2 }' }, 'ad'],
    ['CommonJS', { 'lib/common.cjs': `${FILES['lib/common.cjs']}// More.\n` }, 'b'],
    ['what CommonJS requires', { 'lib/deep.cjs': 'exports.value = 2\n' }, 'b'],
    ['what is imported when the tool is called', { 'lib/late.ts': 'export const late = 2\n' }, 'c'],
    ['what is imported by a template without values', { 'lib/text.ts': 'export const text = 2\n' }, 'f'],
    ['what that imports', { 'lib/later.ts': 'export const later = 2\n' }, 'c'],
    ['a module that nobody imports', { 'lib/stranger.ts': 'export const stranger = 2\n' }, ''],
    [
      'the version of a package',
      { [`${PACKAGE}/package.json`]: '{ "version": "1.1.0", "exports": { "./open": "./x.mjs" } }' },
      'a'
    ],
    ['a file of a package', { [`${PACKAGE}/x.mjs`]: 'export const open = 2\n' }, '']
  ]
  for (const [claim, changes, tools] of cases) t.equal(await changedBy(t, changes), tools, claim)
})

t.test('two tools that import each other have the code of both', async (t) => {
  const circle: Files = {
    'tools/x.ts': `import './y.ts'\n${toolModule('x', TASK)}`,
    'tools/y.ts': `import '../lib/y.ts'\n${toolModule('y', TASK)}`,
    'lib/y.ts': "import '../tools/x.ts'\n",
    'tools/z.ts': `import './x.ts'\n${toolModule('z', TASK)}`
  }
  const root = await writeCatalog(t, circle)
  const { x, y, z } = await fingerprintsOf(root)
  t.equal(x, y)
  t.not(z, x)
  await writeInPlace(root, 'lib/y.ts', "import '../tools/x.ts'\n// More.\n")
  const after = await fingerprintsOf(root)
  t.not(after.x, x)
  t.not(after.z, z)
})

t.test('a reload that uses modules again has the fingerprints of a new start', async (t) => {
  const root = await writeCatalog(t, {
    ...FILES,
    'tools/shared.ts': "export { default } from '../lib/tool.ts'\n",
    'lib/tool.ts': toolModule('shared', TASK)
  })
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
  const compiler = new CatalogCompiler({ pageSize: 1000 })
  const reload = async () => {
    const { primitives: { tools } } = await compiler.compile(await source.load())
    source.accepted()
    return Object.fromEntries(tools.map(({ key, task }) => [key, task?.fingerprint]))
  }
  let before = await reload()
  for (const [path, tools] of [
    ['lib/data.json', 'ad'], ['lib/later.ts', 'c'], ['tools/e.ts', 'e'], ['tools/shared.ts', 'shared']
  ] as const) {
    const text = await readFile(join(root, path), 'utf8')
    await writeInPlace(root, path, `${text}\n`)
    const after = await reload()
    t.strictSame(after, await fingerprintsOf(root), path)
    t.equal(Object.keys(before).filter((key) => before[key] !== after[key]).join(''), tools)
    before = after
  }
})
