import { join } from 'node:path'
import t from 'tap'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import { writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { within } from '../../helpers/deadline.ts'
import { newGraph, PACKAGES } from './graphs.ts'

t.test('shares packages between graphs, and evaluates own files in each graph', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': "export { token as esm } from 'esm-only'\nexport { token as cjs } from 'cjs'\nexport { token " +
      "as own } from './lib.ts'",
    'b.ts': "export { token as esm } from 'esm-only'\nexport { token as own } from './lib.ts'",
    'lib.ts': 'export const token = {}',
    ...PACKAGES
  })
  const graph = newGraph()
  const before = await graph.load(join(root, 'a.ts'))
  const sibling = await graph.load(join(root, 'b.ts'))
  const after = await newGraph().load(join(root, 'a.ts'))
  t.equal(sibling.own, before.own, 'one graph evaluates a file once')
  t.equal(sibling.esm, before.esm)
  t.equal(after.esm, before.esm)
  t.equal(after.cjs, before.cjs)
  t.not(after.own, before.own)
})

t.test('a new graph runs an edited dependency, and an old graph does not', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': "export { rate } from './lib/rates.ts'", 'lib/rates.ts': 'export const rate = 1'
  })
  const old = await newGraph().load(join(root, 'a.ts'))
  await writeInPlace(root, 'lib/rates.ts', 'export const rate: number = 2')
  t.equal(old.rate, 1)
  t.equal((await newGraph().load(join(root, 'a.ts'))).rate, 2)
})

t.test('modules that never end delay the others by one deadline at most', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': "import '../lib/hangs.ts'\n",
    'tools/b.ts': "import '../lib/hangs.ts'\n",
    'tools/c.ts': 'export const c = 1',
    'tools/d.ts': 'await new Promise(() => {})',
    'lib/hangs.ts': 'export const a = 1\nawait new Promise(() => {})'
  })
  const graph = new ModuleGraph({ root, provided: {}, deadlineMs: 300 })
  const began = performance.now()
  const load = async (name: string) => await graph.load(join(root, name)).then(
    () => 'loaded', (error: unknown) => error
  )
  const outcomes = await within(
    Promise.all(['tools/a.ts', 'tools/b.ts', 'tools/c.ts', 'tools/d.ts'].map(load)), 'the deadline'
  )
  const late = {
    message: 'is not loaded within 0.3 s; a top-level await may wait for something that never comes'
  }
  t.match(outcomes, [late, late, 'loaded', late])
  t.strictSame([outcomes[0], outcomes[3]].map((error) => graph.originOf(error)), [
    join(root, 'lib/hangs.ts'), join(root, 'tools/d.ts')
  ])
  t.equal(await load('tools/a.ts'), outcomes[0], 'and it is known from then on')
  t.ok(performance.now() - began >= 300)
  await writeInPlace(root, 'lib/hangs.ts', 'export const a = 1')
  t.equal((await newGraph(root).load(join(root, 'lib/hangs.ts'))).a, 1, 'a new graph starts anew')
})

t.test('a new graph runs an edited CommonJS file and its dependencies again', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': "import whole, { n } from './b.cjs'\nimport { createRequire } from 'node:module'\nexport { " +
      "whole, n }\nexport const same = createRequire(import.meta.url)('./b.cjs') === whole\nexport { " +
        "default as pkg } from 'cjs'",
    'b.cjs': 'exports.n = 1; exports.c = require("./c.cjs"); exports.json = require("./d.json")',
    'c.cjs': 'module.exports = 1',
    'd.json': '1',
    ...PACKAGES
  })
  const load = async () => await newGraph(root).load(join(root, 'a.ts'))
  const before = await load()
  for (
    const [file, text] of Object.entries({
      'b.cjs': 'exports.n = 2; exports.c = require("./c.cjs"); exports.json = require("./d.json")',
      'c.cjs': 'module.exports = 3',
      'd.json': '4'
    })
  ) {
    await writeInPlace(root, file, text)
  }
  const after = await load()
  t.match([before, after], [
    { n: 1, whole: { c: 1, json: 1 }, same: true }, { n: 2, whole: { c: 3, json: 4 }, same: true }
  ])
  t.equal(before.pkg, after.pkg, 'a package stays')
})

t.test('loaded() returns the files that were evaluated without an error', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': "import './b.ts'\nthrow new Error('a')",
    'b.ts': 'export const b = 1',
    'c.json': '2',
    'd.ts': "import './c.json'"
  })
  const graph = newGraph(root)
  await t.rejects(graph.load(join(root, 'a.ts')), { message: 'a' })
  await graph.load(join(root, 'd.ts'))
  t.strictSame(
    graph.loaded().map(({ file, namespace }) => [file.slice(root.length), { ...namespace }]).toSorted(),
    [['/b.ts', { b: 1 }], ['/c.json', { default: 2 }], ['/d.ts', {}]]
  )
})
