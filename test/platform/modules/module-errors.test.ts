import { join } from 'node:path'
import t from 'tap'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { evaluate, newGraph } from './graphs.ts'

t.test('reports the line of a problem, also in TypeScript', async (t) => {
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
      /imports "..\/lib\/rates.ts", which does not exist$/
    ],
    [
      {
        'tools/a.ts': "import { rate } from '../lib/rates'\nexport default rate",
        'lib/rates.ts': 'export const rate = 1'
      },
      'line 1', /imports "..\/lib\/rates", which does not exist; did you mean "..\/lib\/rates.ts"\?$/
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

t.test('errors that a handler throws later have the author\'s line', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': 'interface A {\n  b: 1\n}\nexport const fail = (): never => {\n  throw new Error("later")\n}'
  })
  const { fail } = await newGraph().load(join(root, 'a.ts'))
  if (typeof fail !== 'function') throw new TypeError('fail is no function')
  const thrown: unknown = await Promise.resolve().then(() => fail()).catch((error: unknown) => error)
  t.match(thrown instanceof Error ? thrown.stack : '', `${join(root, 'a.ts')}:5:9`)
})

t.test('reports a broken shared file for every importer, with its name', async (t) => {
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

t.test('the error for a missing export says that the name may be a type', async (t) => {
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

t.test('errors have the author\'s line in every kind of source', async (t) => {
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
