import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { CompiledModules } from '../../../src/platform/modules/compiled-module.ts'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import type { Namespace } from '../../../src/platform/modules/namespace.ts'
import { writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { PACKAGES } from './graphs.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** A file whose evaluations can be told apart. */
const TOKEN = 'export const token = {}\n'

/** Loads these files of a folder in one graph after another, each of which reuses the one before. */
async function openFolder (t: Test, files: Files, entries: readonly string[]) {
  const root = await writeCatalog(t, files)
  const compiled = new CompiledModules()
  let earlier: ModuleGraph | undefined
  return {
    root,
    async load (): Promise<{ [file: string]: Namespace }> {
      const graph = new ModuleGraph({ root, provided: { own: { token: 1 } }, compiled })
      if (earlier !== undefined) graph.reuse(await graph.findReusable(earlier))
      const loaded = await Promise.all(entries.map(
        async (entry) => [entry, await graph.load(join(root, entry)).catch((error: unknown) => ({ error }))]
      ))
      compiled.forgetUnused()
      earlier = graph
      return Object.fromEntries(loaded)
    }
  }
}

/** The entries that were evaluated again. */
function differing (before: { [file: string]: Namespace }, after: { [file: string]: Namespace }): string[] {
  return Object.keys(after).filter((file) => before[file]?.token !== after[file]?.token)
}

t.test('evaluates an edited file and all that import it again, and no other', async (t) => {
  const entries = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts']
  const { root, load } = await openFolder(t, {
    'a.ts': `import './lib/one.ts'\n${TOKEN}`,
    'b.ts': `import './lib/two.ts'\n${TOKEN}`,
    'c.ts': `import { token as esm } from 'esm-only'\nimport 'own'\nexport { esm }\n${TOKEN}`,
    'd.ts': `import './e.ts'\n${TOKEN}`,
    'e.ts': `import './d.ts'\n${TOKEN}`,
    'lib/one.ts': "import './two.ts'",
    'lib/two.ts': `import './three.ts'\nawait 1\n${TOKEN}`,
    'lib/three.ts': 'await 1',
    ...PACKAGES
  }, entries)
  let before = await load()
  async function again (): Promise<string[]> {
    const after = await load()
    const changed = differing(before, after)
    before = after
    return changed
  }
  t.strictSame(await again(), [], 'nothing changed')
  await writeInPlace(root, 'lib/two.ts', `import './three.ts'\nawait 2\n${TOKEN}`)
  t.strictSame(await again(), ['a.ts', 'b.ts'])
  await writeInPlace(root, 'lib/one.ts', '')
  t.strictSame(await again(), ['a.ts'])
  await writeInPlace(root, 'd.ts', `import './e.ts' // edited\n${TOKEN}`)
  t.strictSame(await again(), ['d.ts', 'e.ts'], 'a cycle is evaluated as a whole')
  await writeInPlace(root, 'c.ts', `import { token as esm } from 'esm-only'\nexport { esm } // edited\n${TOKEN}`)
  t.strictSame(await again(), ['c.ts'])
  t.equal(await again().then(() => before['a.ts']?.token), before['a.ts']?.token)
})

t.test('shares one module between a reused importer and a new one', async (t) => {
  const { root, load } = await openFolder(t, {
    'a.ts': "export { token } from './lib.ts'\nexport * from 'esm-only'",
    'b.ts': "export { token } from './lib.ts'\n",
    'lib.ts': TOKEN,
    ...PACKAGES
  }, ['a.ts', 'b.ts'])
  const before = await load()
  const stars = "export * from './a.ts'\nexport * from 'esm-only'"
  await writeInPlace(root, 'b.ts', `export { token } from './lib.ts'\n${stars}`)
  const after = await load()
  t.equal(after['b.ts']?.token, before['a.ts']?.token)
  t.equal(after['b.ts']?.error, undefined, 'and one package is no two packages')
})

t.test('evaluates again what may have become different without an edit of its own', async (t) => {
  const { root, load } = await openFolder(t, {
    'dynamic.ts': `export const later = () => import('./lib.ts')\n${TOKEN}`,
    'data.ts': `import data from './data.json' with { type: 'json' }\nexport { data }\n${TOKEN}`,
    'common.ts': `import common from './common.cjs'\nexport { common }\n${TOKEN}`,
    'linked.ts': `import { value } from './link/lib.js'\nexport { value }\n${TOKEN}`,
    'failing.ts': 'if (globalThis.reusableModulesFail) throw new Error("not yet")\nexport const token = {}',
    'gone.ts': `import './removed.ts'\n${TOKEN}`,
    'lib.ts': 'export const value = 1',
    'removed.ts': '',
    'data.json': '1',
    'common.cjs': 'module.exports = 1',
    'link/lib.js': 'export const value = "old"'
  }, ['dynamic.ts', 'data.ts', 'common.ts', 'linked.ts', 'failing.ts', 'gone.ts'])
  Object.assign(globalThis, { reusableModulesFail: true })
  const before = await load()
  t.match(before['failing.ts'], { error: { message: 'not yet' } })
  Object.assign(globalThis, { reusableModulesFail: false })
  await writeInPlace(root, 'lib.ts', 'export const value = 2')
  await writeInPlace(root, 'data.json', '2')
  await writeInPlace(root, 'common.cjs', 'module.exports = 2')
  await rm(join(root, 'link/lib.js'))
  await writeInPlace(root, 'link/lib.ts', 'export const value: string = "new"')
  await rm(join(root, 'removed.ts'))
  const after = await load()
  const later = after['dynamic.ts']?.later
  t.match(await (later as () => Promise<unknown>)(), { value: 2 })
  t.match(after, {
    'data.ts': { data: 2 },
    'common.ts': { common: 2 },
    'linked.ts': { value: 'new' },
    'failing.ts': { token: {} },
    'gone.ts': { error: { code: 'ERR_MODULE_NOT_FOUND' } }
  })
})

t.test('follows a link that leads to another folder', async (t) => {
  const { root, load } = await openFolder(t, {
    'a.ts': "export { token } from './lib/lib.ts'",
    'one/lib.ts': 'export const token = 1',
    'two/lib.ts': 'export const token = 2'
  }, ['a.ts'])
  const point = async (to: string) => {
    await rm(join(root, 'lib'), { force: true })
    await symlink(join(root, to), join(root, 'lib'))
  }
  await point('one')
  t.equal((await load())['a.ts']?.token, 1)
  await point('two')
  t.equal((await load())['a.ts']?.token, 2)
})

t.test('old versions of an edited file are collected while a module beside them stays', async (t) => {
  const held = 1_000_000
  const text = (turn: number) =>
    `import './lib.ts'\nexport const held = new Uint8Array(${held}).fill(${turn})\nexport const token = {}`
  const { root, load } = await openFolder(t, {
    'a.ts': text(0),
    'stays.ts': `import './lib.ts'\nexport const url = import.meta.url\n${TOKEN}`,
    'lib.ts': 'await 1'
  }, ['a.ts', 'stays.ts'])
  const first = (await load())['stays.ts']?.token
  async function bytesAfter (from: number, turns: number): Promise<number> {
    for (let turn = from; turn < from + turns; turn++) {
      await writeInPlace(root, 'a.ts', text(turn))
      const now = await load()
      if (now['stays.ts']?.token !== first) t.fail('the other module is evaluated again')
    }
    // The memory of a buffer is freed some time after the buffer is collected.
    for (let turn = 0; turn < 5; turn++) {
      await sleep(20)
      collect()
    }
    return process.memoryUsage().arrayBuffers
  }
  const before = await bytesAfter(1, 5)
  const after = await bytesAfter(6, 30)
  t.ok(after - before < 5 * held, `grew by ${after - before} bytes in 30 reloads`)
})

t.test('evaluates again what an edited module has written to', async (t) => {
  const entries = ['a.ts', 'b.ts', 'c.ts', 'hooks.ts']
  const { root, load } = await openFolder(t, {
    'hooks.ts': `export const hooks = []\n${TOKEN}`,
    'lib.ts': TOKEN,
    'a.ts': `import { hooks } from './hooks.ts'\nhooks.push('a1')\n${TOKEN}`,
    'b.ts': `import { hooks } from './hooks.ts'\nhooks.push('b1')\n${TOKEN}`,
    'c.ts': `import './lib.ts'\n${TOKEN}`
  }, entries)
  const before = await load()
  await writeInPlace(root, 'a.ts', `import { hooks } from './hooks.ts'\nhooks.push('a2')\n${TOKEN}`)
  const after = await load()
  t.strictSame(after['hooks.ts']?.hooks, ['a2', 'b1'])
  t.strictSame(differing(before, after), ['a.ts', 'b.ts', 'hooks.ts'], 'the others stay')
})
