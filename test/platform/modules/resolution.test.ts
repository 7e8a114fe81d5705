import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import * as trivet from '../../../src/index.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { evaluate, newGraph, PACKAGES } from './graphs.ts'

t.test('provides the service\'s trivet to a folder without node_modules', async (t) => {
  const { ToolError, all, defineTool } = await evaluate(t, {
    'deep/down/a.ts': "export { ToolError } from 'trivet'\nimport { defineTool } from 'trivet'\nimport * " +
      "as all from 'trivet'\nexport { all, defineTool }"
  })
  t.equal(ToolError, trivet.ToolError)
  t.equal(defineTool, trivet.defineTool)
  t.ok(typeof all === 'object' && all !== null && 'createApp' in all && all.createApp === trivet.createApp)
})

t.test('resolves packages in the catalog\'s node_modules as Node does', async (t) => {
  const found = await evaluate(t, {
    'tools/a.ts': `import esm from 'esm-only'
      import { one } from 'esm-only/deep/one'
      import cjs, { named } from 'cjs'
      import { sep } from 'path'
      import fs, { readFileSync } from 'node:fs'
      import { createRequire } from 'node:module'
      import local from '../lib/old.cjs'
      import { shared } from '#lib/shared'
      const require = createRequire(import.meta.url)
      const required = require('cjs')
      export { esm, one, named, sep, local, shared }
      export const same = [required === cjs, fs.readFileSync === readFileSync, (await import('cjs')).default === cjs]`,
    ...PACKAGES,
    'package.json': JSON.stringify({ imports: { '#lib/*': './lib/*.ts' } }),
    'lib/old.cjs': 'module.exports = "old"',
    'lib/shared.ts': 'export const shared: string = "shared"'
  })
  t.match(found, {
    esm: 'esm', one: 1, named: 'named', sep: '/', local: 'old', shared: 'shared', same: [true, true, true]
  })
  await t.rejects(evaluate(t, { 'a.ts': "import 'esm-only/lib/one.js'", ...PACKAGES }), {
    message: /not defined by "exports"/
  })
  await t.rejects(evaluate(t, { 'a.ts': "import 'not-there'", ...PACKAGES }), {
    message: /Cannot find package 'not-there'/
  })
})

t.test('resolves imports from the folder of a link, as a mounted ConfigMap needs', async (t) => {
  const root = await writeCatalog(t, {
    '..data/a.ts': "export { b } from './lib/b.ts'", 'lib/b.ts': 'export const b = 1'
  })
  await symlink('..data/a.ts', join(root, 'a.ts'))
  t.equal((await newGraph().load(join(root, 'a.ts'))).b, 1)
})

t.test('a file belongs to the catalog even if the catalog is in a package', async (t) => {
  for (const folder of [
    'node_modules/shop', 'node_modules/@scope/shop', 'node_modules/shop/catalog', 'shop'
  ]) {
    const root = await writeCatalog(t, {
      [
        `${folder}/tools/a.ts`
      ]: "export { b } from '../lib/b.ts'\nexport { outer } from 'outer'\nexport { inner } from 'inner'",
      [`${folder}/lib/b.ts`]: 'export const b: number = 1',
      [
        `${folder}/node_modules/inner/package.json`
      ]: '{ "name": "inner", "type": "module", "exports": "./main.js" }',
      [`${folder}/node_modules/inner/main.js`]: 'export const inner = {}',
      'node_modules/outer/package.json': '{ "name": "outer", "type": "module", "exports": "./main.js" }',
      'node_modules/outer/main.js': 'export const outer = {}'
    })
    const load = async () => await newGraph(join(root, folder)).load(join(root, folder, 'tools/a.ts'))
    const [one, two] = [await load(), await load()]
    t.equal(one.b, 1, folder)
    t.strictSame([one.outer === two.outer, one.inner === two.inner], [true, true], 'and packages are shared')
  }
})

t.test('import.meta.resolve returns URLs that import() accepts', async (t) => {
  const { urls, back } = await evaluate(t, {
    'a.ts': "export const urls = ['./b.js', './b.ts', './none.js', 'esm-only', 'path'].map((name) => " +
      "import.meta.resolve(name).split('/').slice(-2).join('/'))\nexport const back = (await " +
        "import(import.meta.resolve('./b.js'))).b",
    'b.ts': 'export const b: number = 1',
    ...PACKAGES
  })
  t.match(urls, [/\/b\.ts$/, /\/b\.ts$/, /\/none\.js$/, 'esm-only/main.js', 'node:path'])
  t.equal(back, 1)
})

t.test('imports JSON with or without the attribute, and other files only without it', async (t) => {
  const files = {
    'data.json': '\uFEFF{ "n": 2 }',
    'b.ts': '',
    'node_modules/pkg/package.json': '{ "name": "pkg" }',
    'node_modules/pkg/data.json': '{ "n": 3 }'
  }
  const { all } = await evaluate(t, {
    'a.ts': "import one from './data.json'\nimport two from './data.json' with { type: 'json' }\nimport " +
      "far from 'pkg/data.json' with { type: 'json' }\nexport const all = [one.n, one === two, (await " +
        "import('./data.json')).default === one, far.n]",
    ...files
  })
  t.strictSame(all, [2, true, true, 3])
  await t.rejects(evaluate(t, { 'a.ts': "import './b.ts' with { type: 'json' }", ...files }), {
    code: 'ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE'
  })
})
