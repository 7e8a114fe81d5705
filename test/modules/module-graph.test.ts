import { join } from 'node:path'
import { symlink } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import * as trivet from '../../src/index.ts'
import { createModuleGraph, type ModuleGraph } from '../../src/modules/module-graph.ts'
import type { Namespace } from '../../src/modules/namespace.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../helpers/catalog-folder.ts'
import { within } from '../helpers/deadline.ts'
import { problemsOf } from '../helpers/load-catalog.ts'

const newGraph = (root = '/'): ModuleGraph => createModuleGraph({ root, provided: { trivet } })

/** Evaluates the first of these files in a graph of its own. */
async function evaluate (t: Test, files: Files): Promise<Namespace> {
  const root = await writeCatalog(t, files)
  const [first = ''] = Object.keys(files)
  return await within(newGraph().load(join(root, first)), `the end of ${first}`)
}

t.test('evaluates TypeScript and JavaScript under each of their extensions', async (t) => {
  for (const extension of ['ts', 'mts']) {
    const { answer } = await evaluate(t, {
      [`a.${extension}`]: 'interface A { n: number }\nexport const answer: number = ({ n: 42 } satisfies A).n'
    })
    t.equal(answer, 42, extension)
  }
  for (const extension of ['js', 'mjs']) {
    const { answer } = await evaluate(t, {
      [`a.${extension}`]: '#!/usr/bin/env node\nexport const answer = 42'
    })
    t.equal(answer, 42, extension)
  }
})

t.test('strips types, and keeps what TypeScript adds at run time', async (t) => {
  const { total, text, flags, unset } = await evaluate(t, {
    'a.ts': `import type { Gone } from './gone.ts'
      import { type AlsoGone, base } from './b.ts'
      import { OnlyAType } from './b.ts'
      let unset: OnlyAType | undefined
      enum Flag { A = 1, B = A << 1, C = 'c' }
      abstract class Sum<T extends number> { constructor (readonly a: T, private b = 2) {} get sum (): number { return this.a + this.b! } }
      class Real extends Sum<1> { declare gone: Gone; override get sum () { return super.sum + base } }
      const identity = <T,>(value: T): T => value as T
      export type { Gone, AlsoGone }
      export { unset }
      export const total = identity<number>(new Real(1).sum)
      export const flags = [Flag.B, Flag.C, Flag[1]]
      export const text = ((value: unknown): value is string => typeof value === 'string')('x')`,
    'b.ts': 'export type AlsoGone = string; export interface OnlyAType {}; export const base = 10'
  })
  t.equal(total, 13)
  t.equal(text, true)
  t.equal(unset, undefined)
  t.strictSame(flags, [2, 'c', 'A'])
})

t.test('gives the service\'s own trivet to a folder that has no node_modules', async (t) => {
  const { ToolError, all, defineTool } = await evaluate(t, {
    'deep/down/a.ts': "export { ToolError } from 'trivet'\nimport { defineTool } from 'trivet'\nimport * " +
      "as all from 'trivet'\nexport { all, defineTool }"
  })
  t.equal(ToolError, trivet.ToolError)
  t.equal(defineTool, trivet.defineTool)
  t.ok(typeof all === 'object' && all !== null && 'createApp' in all && all.createApp === trivet.createApp)
})

const PACKAGES: Files = {
  'node_modules/esm-only/package.json': JSON.stringify({
    name: 'esm-only',
    type: 'module',
    exports: {
      '.': { import: './main.js', default: './never.js' }, './deep/*': './lib/*.js'
    }
  }),
  'node_modules/esm-only/main.js': 'export const token = {}\nexport default "esm"',
  'node_modules/esm-only/lib/one.js': 'export const one = 1',
  'node_modules/cjs/package.json': JSON.stringify({ name: 'cjs', main: './main.js' }),
  'node_modules/cjs/main.js': 'exports.named = require("./other").named; exports.token = {}',
  'node_modules/cjs/other.js': 'exports.named = "named"'
}

t.test('resolves packages from the catalog\'s own node_modules as Node does', async (t) => {
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

t.test('shares packages between graphs, and the catalog\'s own files not', async (t) => {
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

t.test('gives modules what they have in Node: top-level await, import.meta, dynamic import, JSON', async (
  t
) => {
  const files = {
    'a.ts': `import data from './data.json' with { type: 'json' }
      import { later } from './later.js'
      const name: string = 'lazy'
      export const lazy = (await import(\`./\${name}.ts\`)).default
      export const value = await Promise.resolve(later + data.n)
      export const meta = import.meta
      export const json = (await import('./data.json', { with: { type: 'json' } })).default.n`,
    'later.ts': 'export const later = await new Promise<number>((resolve) => setImmediate(resolve, 40))',
    'lazy.ts': 'export default "lazy"',
    'data.json': '{ "n": 2 }'
  }
  const root = await writeCatalog(t, files)
  const file = join(root, 'a.ts')
  const { value, lazy, meta, json } = await newGraph().load(file)
  t.equal(value, 42, 'and ./later.js is ./later.ts, as TypeScript has it')
  t.equal(lazy, 'lazy')
  t.equal(json, 2)
  t.match(meta, { url: pathToFileURL(file).href, filename: file, dirname: root })
})

t.test('re-exports every way there is', async (t) => {
  const { one, two, ns, fallback, changed } = await evaluate(t, {
    'a.ts': "export * from './b.ts'\nexport { two } from './c.ts'\nexport * as ns from './b.ts'\nexport { " +
      "default as fallback } from './b.ts'\nimport { count, grow } from './b.ts'\ngrow()\nexport const " +
        'changed = count',
    'b.ts': 'export const one = 1\nexport default "default"\nexport let count = 0\nexport function grow () ' +
      '{ count++ }',
    'c.ts': 'const zwei = 2\nexport { zwei as two }'
  })
  t.match({ one, two, fallback, ns }, {
    one: 1, two: 2, fallback: 'default', ns: { one: 1, default: 'default' }
  })
  t.equal(changed, 1, 'a binding is live')
})

t.test('evaluates modules that import each other', async (t) => {
  const cycle = {
    'even.ts': "import { isOdd } from './odd.ts'\nexport const isEven = (n: number): boolean => n === 0 || " +
      'isOdd(n - 1)',
    'odd.ts': "import { isEven } from './even.ts'\nimport * as self from './odd.ts'\nexport const isOdd = " +
      '(n: number): boolean => n !== 0 && isEven(n - 1)\nexport const me = () => self.isOdd'
  }
  const { answer } = await evaluate(t, {
    'a.ts': "import { isEven } from './even.ts'\nimport { isOdd } from './odd.ts'\nexport const answer = " +
      '[isEven(10), isOdd(10)]',
    ...cycle
  })
  t.strictSame(answer, [true, false])
  const { both } = await evaluate(t, {
    'a.ts': "const [{ isEven }, { isOdd }] = await Promise.all([import('./even.ts'), " +
      "import('./odd.ts')])\nexport const both = [isEven(7), isOdd(7)]",
    ...cycle
  })
  t.strictSame(both, [false, true], 'also where both are asked for at once')
})

t.test('sees an edited dependency in a new graph, and only there', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': "export { rate } from './lib/rates.ts'", 'lib/rates.ts': 'export const rate = 1'
  })
  const old = await newGraph().load(join(root, 'a.ts'))
  await writeInPlace(root, 'lib/rates.ts', 'export const rate: number = 2')
  t.equal(old.rate, 1)
  t.equal((await newGraph().load(join(root, 'a.ts'))).rate, 2)
})

t.test('calls what it imports as it was exported: without a receiver of its own to need', async (t) => {
  const { answers } = await evaluate(t, {
    'a.ts': `import twice, { callable, nothing as optional } from './b.ts'
      import * as all from './b.ts'
      const before = 1
      export const answers = [callable(before), twice(2), optional?.(1), all.callable(3), new all.Kind().n, \`\${callable(callable(4))}\`]
      answers.push(await (await import('./b.ts')).later(7))`,
    'b.ts': `export const callable = Object.setPrototypeOf((n: number) => n, null)
      export default (n: number) => n * 2
      export const nothing = undefined
      export const later = async (n: number) => n
      export class Kind { n = 5 }`
  })
  t.strictSame(answers, [1, 4, undefined, 3, 5, '4', 7])
})

t.test('leaves alone the strings, comments and regular expressions that look like imports', async (t) => {
  const { texts } = await evaluate(t, {
    'a.js': `// import a from './gone.js'
      /* export * from './gone.js'; import('./gone.js') */
      const inText = "import b from './gone.js'"
      const inTemplate = \`import('./gone.js') \${typeof import.meta.url} import.meta require('x')\`
      const inPattern = /import\\('.\\/gone.js'\\)/.source
      const property = { import: 1, require: 2 }.import
      export const texts = [inText, inTemplate, inPattern, property]`
  })
  t.strictSame(texts, [
    "import b from './gone.js'", "import('./gone.js') string import.meta require('x')",
    "import\\('.\\/gone.js'\\)", 1
  ])
})

t.test('says in which line a module is wrong, also after its types are gone', async (t) => {
  const types = 'interface Rate {\n  from: string\n}\n'
  const cases: ReadonlyArray<readonly [Files, string, RegExp]> = [
    [{ 'tools/a.ts': `${types}const a: number = (\nexport const b = 1` }, 'line 5', /^Unexpected "export"$/],
    [{ 'tools/a.js': 'export const a = 1\nconst b = (\nexport const c = 1' }, 'line 3', /Unexpected token/],
    [{ 'tools/a.ts': `${types}const a: number = 1\nconst a = 2` }, 'line 5', /already been declared/],
    [{ 'tools/a.ts': `${types}throw new Error('no key')` }, 'line 4', /^no key$/],
    [
      { 'tools/a.ts': `${types}const rates: Rate[] = []\n\nexport default rates[0].from` }, 'line 6',
      /Cannot read properties of undefined/
    ],
    [
      { 'tools/a.ts': "import { rate } from '../lib/rates.ts'\nexport default rate" }, 'line 1',
      /imports "..\/lib\/rates.ts", which does not exist/
    ],
    [
      {
        'tools/a.ts': "import { rate, /* a comment */ other as mine } from '../lib/rates.ts'\nexport " +
          'default rate + mine',
        'lib/rates.ts': 'export const rate = 1'
      },
      'line 1', /"..\/lib\/rates.ts" has no export named "other"/
    ],
    [{ 'tools/a.ts': 'throw undefined' }, '', /^undefined$/]
  ]
  for (const [files, place, rule] of cases) {
    const [file = ''] = Object.keys(files)
    t.match(await problemsOf(t, files), [{ file, place, rule }], String(rule))
  }
})

t.test('keeps the line numbers of errors that a handler throws later', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': 'interface A {\n  b: 1\n}\nexport const fail = (): never => {\n  throw new Error("later")\n}'
  })
  const { fail } = await newGraph().load(join(root, 'a.ts'))
  if (typeof fail !== 'function') throw new TypeError('fail is no function')
  const thrown: unknown = await Promise.resolve().then(() => fail()).catch((error: unknown) => error)
  t.match(thrown instanceof Error ? thrown.stack : '', `${join(root, 'a.ts')}:5:9`)
})

t.test('has every importer complain of a shared file that fails, and names that file', async (t) => {
  const importing = (name: string) => `import '../lib/shared.ts'\n${toolModule(name)}`
  for (const [shared, place, rule] of [
    ['\nthrow new Error("no key")', 'in lib/shared.ts, line 2', 'no key'],
    ['const a: number = (\n', 'in lib/shared.ts, line 2', 'Unexpected end of file'],
    ["import 'not-there'", 'in lib/shared.ts, line 1', /Cannot find package/]
  ] as const) {
    t.match(await problemsOf(t, {
      'tools/a.ts': importing('a'),
      'tools/b.ts': importing('b'),
      'tools/c.ts': toolModule('c'),
      'lib/shared.ts': shared
    }), [
      { file: 'tools/a.ts', place, rule },
      { file: 'tools/b.ts', place, rule }
    ])
  }
})

t.test('resolves imports beside the link by which a file was found, as a mounted ConfigMap needs it', async (
  t
) => {
  const root = await writeCatalog(t, {
    '..data/a.ts': "export { b } from './lib/b.ts'", 'lib/b.ts': 'export const b = 1'
  })
  await symlink('..data/a.ts', join(root, 'a.ts'))
  t.equal((await newGraph().load(join(root, 'a.ts'))).b, 1)
})

t.test('keeps a module that never ends from holding up the others for longer than one deadline', async (
  t
) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': "import '../lib/hangs.ts'\n",
    'tools/b.ts': "import '../lib/hangs.ts'\n",
    'tools/c.ts': 'export const c = 1',
    'tools/d.ts': 'await new Promise(() => {})',
    'lib/hangs.ts': 'export const a = 1\nawait new Promise(() => {})'
  })
  const graph = createModuleGraph({ root, provided: {}, deadlineMs: 300 })
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

t.test('sees an edited CommonJS file in a new graph, and what it requires', async (t) => {
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

t.test('belongs to the catalog wherever the catalog lies', async (t) => {
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

t.test('has loaded what was evaluated without an error', async (t) => {
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
    graph.loaded().map(({ file, exports }) => [file.slice(root.length), { ...exports }]).toSorted(),
    [['/b.ts', { b: 1 }], ['/c.json', { default: 2 }], ['/d.ts', {}]]
  )
})

t.test('gives import.meta.resolve, and takes what it says', async (t) => {
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

t.test('imports JSON with the attribute and without it, and nothing else by that attribute', async (t) => {
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

t.test('says that a name which is not there may be a type', async (t) => {
  for (const text of [
    "import { T } from './b.ts'\nexport const a = T", "export { T } from './b.ts'",
    "import { T } from './b.ts'\nexport { T }"
  ]) {
    await t.rejects(evaluate(t, { 'a.ts': text, 'b.ts': 'export interface T {}' }), {
      name: 'SyntaxError',
      message: '"./b.ts" has no export named "T" (if it is a type, say "import type")',
      loc: { line: 1 }
    })
  }
  await t.rejects(evaluate(t, { 'a.ts': "import fs = require('node:fs')\nfs.readFileSync('x')" }), {
    name: 'SyntaxError', message: /write "import … from" instead/
  })
})

t.test('points at the author\'s line in every kind of text', async (t) => {
  const texts = {
    'a.js': "import { sep } from 'node:path'\nexport const f = () => {\n  void sep\n  throw new " +
      "Error('f')\n}",
    'b.ts': 'interface A {\n  b: 1\n}\nexport const f = (): never => { throw new Error("f") }',
    'c.ts': 'enum A {\n  B,\n  C\n}\n\nclass P { constructor (readonly a: A) {\n  if (a === A.C)\n    ' +
      'throw new Error("f")\n} }\nexport const f = () => new P(A.C)',
    'd.ts': 'namespace N {\n  export const t = `\n  `\n\n  export function f () {\n    const x: any = ' +
      'undefined\n    return x.y }\n}\nexport const { f } = N',
    'e.tsx': 'const jsx = (n: any) => n\nexport const f = () => <div\n  id="a">\n  {jsx(\n    1)}\n  ' +
      '{(undefined as any)\n    .nope}\n</div>',
    'f.ts': 'const d = (v: any, c: any) => {}\n@d\nclass A {\n  @d\n  m () {\n    throw new Error("f")\n  ' +
      '}\n}\nexport const f = () => new A().m()'
  }
  const lines: { readonly [file: string]: number } = {
    'a.js': 4, 'b.ts': 4, 'c.ts': 8, 'd.ts': 7, 'e.tsx': 7, 'f.ts': 6
  }
  const react = {
    'node_modules/react/package.json': '{ "name": "react", "type": "module", "exports": { "./jsx-runtime": ' +
      '"./jsx.js" } }',
    'node_modules/react/jsx.js': 'export const jsx = (...all) => all\nexport const jsxs = jsx'
  }
  const root = await writeCatalog(t, { ...texts, ...react })
  for (const [file, line] of Object.entries(lines)) {
    const { f } = await newGraph(root).load(join(root, file))
    if (typeof f !== 'function') throw new TypeError('f is no function')
    const stack = await Promise.resolve().then(() => f()).then(() => '', (error: Error) => error.stack)
    t.equal(/:(\d+):\d+\)?$/m.exec(stack ?? '')?.[1], String(line), `${file}\n${stack}`)
  }
})
