import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { evaluate, newGraph } from './graphs.ts'

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

t.test('strips types, and compiles TypeScript\'s run-time syntax', async (t) => {
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

t.test('supports top-level await, import.meta, dynamic import and JSON', async (t) => {
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

t.test('supports every form of re-export', async (t) => {
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

t.test('calls imported functions without a receiver', async (t) => {
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

t.test('does not change strings, comments and patterns that look like imports', async (t) => {
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
