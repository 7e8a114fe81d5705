// Which modules count as the makers of what registering functions return.

import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { CompiledModules } from '../../../src/platform/modules/compiled-module.ts'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import { writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'

const own = {
  make: (name: string) => ({ name }),
  other: (name: string) => ({ name }),
  constant: 1
}

/** Loads these files of a folder in one graph after another, each of which reuses the one before. */
async function openFolder (t: Test, files: Files) {
  const root = await writeCatalog(t, files)
  const compiled = new CompiledModules()
  let earlier: ModuleGraph | undefined
  const registeredIn = (graph: ModuleGraph) => Object.fromEntries(
    graph.loaded().filter(({ registered }) => registered.length > 0)
      .map(({ file, registered }) => [relative(root, file), registered])
  )
  async function loadGraph (): Promise<ModuleGraph> {
    const graph = new ModuleGraph({ root, provided: { own }, registering: new Set(['make']), compiled })
    if (earlier !== undefined) graph.reuse(await graph.findReusable(earlier))
    await Promise.all(Object.keys(files).map(async (file) => await graph.load(join(root, file))))
    graph.endLoading()
    compiled.forgetUnused()
    earlier = graph
    return graph
  }
  const namesIn = (graph: ModuleGraph) => Object.fromEntries(
    Object.entries(registeredIn(graph)).map(([file, made]) => [
      file, made.map((one) => (one as { name: string }).name)
    ])
  )
  return { root, registeredIn, loadGraph, load: async () => namesIn(await loadGraph()), namesIn }
}

t.test('a module registers what it makes, however it imports the function', async (t) => {
  const { load } = await openFolder(t, {
    'named.ts': "import { make } from 'own'\nmake('a')\nmake('b')",
    'renamed.ts': "import { make as create } from 'own'\nexport const made = create('a')",
    'namespace.ts': "import * as own from 'own'\nown.make('a')",
    'dynamic.ts': "const { make } = await import('own')\nmake('a')",
    'late.ts': "import { make } from 'own'\nmake('a')\nawait new Promise(setImmediate)\nmake('b')",
    'passed.ts': "export * from 'own'",
    'other.ts': "import { other, constant } from 'own'\nother('a')\nexport { constant }",
    'indirect.ts': "import { make } from './passed.ts'\nmake('a')",
    'broken.ts': "import { make } from 'own'\nmake('a')"
  })
  t.strictSame(await load(), {
    'named.ts': ['a', 'b'],
    'renamed.ts': ['a'],
    'namespace.ts': ['a'],
    'dynamic.ts': ['a'],
    'late.ts': ['a', 'b'],
    'indirect.ts': ['a'],
    'broken.ts': ['a']
  })
})

t.test('the same function is seen in every way, and works as it did', async (t) => {
  const { loadGraph } = await openFolder(t, {
    'a.ts': `import { make } from 'own'
      import * as own from 'own'
      const dynamic = await import('own')
      export const isSame = [own === dynamic, make.name, Object.keys(own).join()]
      export const made = make('x')`
  })
  const exports = (await loadGraph()).loaded()[0]?.namespace ?? {}
  t.strictSame(exports.isSame, [true, 'make', 'constant,make,other'])
  t.strictSame(exports.made, { name: 'x' })
})

t.test('a module that a later load reuses keeps what it registered', async (t) => {
  const { root, loadGraph, registeredIn } = await openFolder(t, {
    'kept.ts': "import { make } from 'own'\nmake('kept')",
    'edited.ts': "import { make } from 'own'\nmake('old')"
  })
  const before = registeredIn(await loadGraph())
  await writeInPlace(root, 'edited.ts', "import { make } from 'own'\nmake('new')")
  const after = registeredIn(await loadGraph())
  t.equal(after['kept.ts']?.[0], before['kept.ts']?.[0], 'the same object')
  t.strictSame(after['edited.ts'], [{ name: 'new' }])
})

t.test('a module whose function registers for others is evaluated again with them', async (t) => {
  const { root, load } = await openFolder(t, {
    'factory.ts': "import { make } from 'own'\nexport const build = (name) => make(name)",
    'a.ts': "import { build } from './factory.ts'\nbuild('a')",
    'b.ts': "import { build } from './factory.ts'\nbuild('b')"
  })
  t.strictSame(await load(), { 'factory.ts': ['a', 'b'] })
  await writeInPlace(root, 'a.ts', "import { build } from './factory.ts'\nbuild('c')")
  t.strictSame((await load())['factory.ts']?.toSorted(), ['b', 'c'], 'nothing is registered twice')
})

t.test('what is made after the load, as by a handler, is not kept', async (t) => {
  const { loadGraph, namesIn } = await openFolder(t, {
    'a.ts': "import { make } from 'own'\nmake('a')\nexport const handler = () => make('b')"
  })
  const graph = await loadGraph()
  const [{ namespace: exports } = { namespace: {} }] = graph.loaded()
  const { handler } = exports as { handler (): unknown }
  t.strictSame(handler(), { name: 'b' })
  t.strictSame(namesIn(graph), { 'a.ts': ['a'] })
})

t.test('two graphs of one folder that load at once do not share what they register', async (t) => {
  const { root, registeredIn } = await openFolder(t, {
    'a.ts': "import { make } from 'own'\nawait new Promise(setImmediate)\nmake('a')"
  })
  const graphs = [1, 2].map(() => new ModuleGraph({
    root, provided: { own }, registering: new Set(['make'])
  }))
  await Promise.all(graphs.map(async (graph) => await graph.load(join(root, 'a.ts'))))
  const [one, other] = graphs.map(registeredIn)
  t.strictSame([one, other], [{ 'a.ts': [{ name: 'a' }] }, { 'a.ts': [{ name: 'a' }] }])
  t.not(one?.['a.ts']?.[0], other?.['a.ts']?.[0])
})
