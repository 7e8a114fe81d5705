// Other differences between a module and a script, and texts that are hard to parse.
/* eslint-disable no-template-curly-in-string */

import type { Cases } from './case.ts'

export const LANGUAGE: Cases = {
  'this is undefined': {
    'a.js': 'export const all = [typeof this, (() => this)(), (function () { return this })(), ' +
      'eval("typeof this")]'
  },
  'the code is strict': {
    'a.js': 'export const all = [(function () { return this === undefined })(), (() => { try { undefined1 ' +
      '= 1 } catch (error) { return error.name } })(), (() => { try { Object.freeze([1])[0] = 2 } catch ' +
        '(error) { return error.name } })()]'
  },
  'the variables of CommonJS are not declared': {
    'a.js': 'export const all = [typeof module, typeof exports, typeof require, typeof __filename, typeof ' +
      '__dirname, typeof arguments]'
  },
  'arguments is not declared': { 'a.js': 'export const a = (() => arguments)()' },
  'arguments of functions are theirs': {
    'a.js': 'function f () { return [typeof arguments, arguments.length, (() => arguments[0])()] }\nexport ' +
      'const all = [f(1, 2), { m () { return arguments.length } }.m(1), { arguments: 3 }.arguments]'
  },
  'variables of one\'s own by these names': {
    'a.js': 'const module = 1, exports = 2, require = (x) => x + 3\nexport { module, exports, require ' +
      '}\nexport const sum = module + exports + require(0)\nlet __filename = "f", define = 4\nexport { ' +
        '__filename, define }'
  },
  'variables of one\'s own called import_b and _b': {
    'a.js': 'import { b } from "./b.js"\nconst _b = 1, import_b = 2, _import_b = 3, _bjs = 4\nexport const ' +
      'all = [b, _b, import_b, _import_b, _bjs]',
    'b.js': 'export const b = 0'
  },
  'variables are the module\'s own': {
    'a.js': 'var inModule = 1\nfunction alsoInModule () {}\nexport const all = ["inModule" in globalThis, ' +
      '"alsoInModule" in globalThis]'
  },
  'import.meta': {
    'a.js': 'export const keys = Object.keys(import.meta)\nexport const all = ' +
      '[import.meta.url.startsWith("file:///"), import.meta.filename === new ' +
        'URL(import.meta.url).pathname, import.meta.filename === import.meta.dirname + "/a.js", ' +
          'Object.getPrototypeOf(import.meta), Object.isExtensible(import.meta), import.meta === ' +
            'import.meta, typeof import.meta, `${import.meta.url}`.endsWith("/a.js")]\nimport.meta.mine = ' +
              '1\nexport const { mine } = import.meta'
  },
  'import.meta of each module is its own': {
    'a.js': 'import { url } from "./lib/b.js"\nexport const all = ' +
      '[url.slice(import.meta.url.lastIndexOf("/"))]',
    'lib/b.js': 'export const { url } = import.meta'
  },
  'import.meta.resolve': {
    'a.js': 'const short = (url) => url.replace(import.meta.url.slice(0, ' +
      'import.meta.url.lastIndexOf("/")), "")\nexport const all = [short(import.meta.resolve("./b.js")), ' +
        'short(import.meta.resolve("./not there.js")), import.meta.resolve("fs"), ' +
          'import.meta.resolve("https://a.example/b"), short(import.meta.resolve("pkg"))]\nexport const { ' +
            'length } = import.meta.resolve\nlet failure\ntry { import.meta.resolve("no-such-package") } ' +
              'catch (error) { failure = [error.constructor.name, error.code] }\nexport { failure }',
    'b.js': '',
    'node_modules/pkg/package.json': '{ "name": "pkg", "exports": "./main.js" }',
    'node_modules/pkg/main.js': ''
  },
  'a namespace object': {
    'a.js': `import * as ns from "./b.js"
      const tries = {
        keys: () => Reflect.ownKeys(ns), proto: () => Object.getPrototypeOf(ns), tag: () => Object.prototype.toString.call(ns), describe: () => Object.getOwnPropertyDescriptors(ns),
        extensible: () => Object.isExtensible(ns), frozen: () => Object.isFrozen(ns), sealed: () => Object.isSealed(ns), prevent: () => Reflect.preventExtensions(ns),
        set: () => Reflect.set(ns, "a", 1), setNew: () => Reflect.set(ns, "new", 1), setSymbol: () => Reflect.set(ns, Symbol.toStringTag, 1),
        delete: () => Reflect.deleteProperty(ns, "a"), deleteNew: () => Reflect.deleteProperty(ns, "new"), deleteSymbol: () => Reflect.deleteProperty(ns, Symbol.toStringTag),
        define: () => Reflect.defineProperty(ns, "a", { value: 1 }), defineOther: () => Reflect.defineProperty(ns, "a", { value: 2 }), defineNothing: () => Reflect.defineProperty(ns, "a", {}),
        defineSame: () => Reflect.defineProperty(ns, "a", { value: 1, writable: true, enumerable: true, configurable: false }), defineReadOnly: () => Reflect.defineProperty(ns, "a", { writable: false }),
        defineHidden: () => Reflect.defineProperty(ns, "a", { enumerable: false }), defineGetter: () => Reflect.defineProperty(ns, "a", { get () {} }), defineNew: () => Reflect.defineProperty(ns, "new", { value: 1 }),
        defineTag: () => Reflect.defineProperty(ns, Symbol.toStringTag, { value: "Module" }), setProto: () => Reflect.setPrototypeOf(ns, {}), setSameProto: () => Reflect.setPrototypeOf(ns, null),
        has: () => ["a" in ns, "new" in ns, Symbol.toStringTag in ns, "toString" in ns], own: () => [Object.hasOwn(ns, "a"), Object.hasOwn(ns, "default"), Object.hasOwn(ns, "new")],
        get: () => [ns.a, ns["a"], ns.new, ns[Symbol.iterator], ns.__proto__, ns.toString], entries: () => Object.entries(ns), spread: () => ({ ...ns }), json: () => JSON.stringify(ns), forIn: () => { const all = []; for (const key in ns) all.push(key); return all },
        freeze: () => Object.freeze(ns), assign: () => { ns.a = 1 }, assignNew: () => { ns.x = 1 }, remove: () => { delete ns.a }, inherit: () => Object.create(ns).a, text: () => String(ns), typeof: () => typeof ns
      }
      export const all = Object.entries(tries).map(([name, f]) => { try { return [name, f()] } catch (error) { return [name, error.constructor.name] } })`,
    'b.js': 'export const z = 1, a = 1, B = 2, _c = 3\nexport let live = 1\nlive = 2\nexport default ' +
      '4\nexport { a as "10", a as "9" }'
  },
  'carriage returns': {
    'a.js': 'import { b } from "./b.js"\r\nexport const a = b,\r\n  c = `x\r\ny`\r\nexport {\r\n  ' +
      'd\r\n}\r\nconst d = 1\r\nexport const line = new Error().stack.split("\\n")[1].split(":").at(-2)\r\n',
    'b.js': 'export const b = 1\r\n'
  },
  'lone carriage returns and line separators': {
    'a.js': 'export const a = 1\rexport const b = 2\u2028export const c = 3\u2029export default 4'
  },
  'a byte order mark': { 'a.js': '\uFEFFexport const a = 1' },
  'a first line for the shell': { 'a.js': '#!/usr/bin/env node --import x\nexport const a = 1' },
  'a first line for the shell alone': { 'a.js': '#!/usr/bin/env node' },
  'tabs and odd spaces': { 'a.js': 'export\u00A0const\u3000a\t=\u20001\nexport\vdefault\f2' },
  'no line at its end': { 'a.js': 'export const a = 1 // the end' },
  'a comment that is open to the end of a line': { 'a.js': 'export const a = 1 /* the end */' },
  'texts that look like imports': {
    'a.js': `// import a from './gone.js'
      /* export * from './gone.js'; import('./gone.js') */
      const inText = "import b from './gone.js'", inOther = 'export default 1'
      const inTemplate = \`import('./gone.js') \${typeof import.meta.url} import.meta require('x')
        export const never = 1\`
      const inPattern = /import\\('.\\/gone.js'\\)/.source
      const division = 4 / 2 / 1; const notAPattern = "/ export { x } /"
      const property = { import: 1, export: 2, default: 3, from: 4, as: 5 }
      const shorthand = (({ from, as, of, async, get, set, let1 = 1 }) => [from, as, of])({ from: 1, as: 2, of: 3 })
      export const texts = [inText, inOther, inTemplate, inPattern, division, notAPattern, property.import, property.export, shorthand]`
  },
  'names that are words of modules': {
    'a.js': 'import { from, as, of } from "./b.js"\nimport { default as async } from "./b.js"\nconst get = ' +
      '1, set = 2, target = 3, meta = 4, type = 5, source = 6, defer = 7\nexport { from as as, as as from, ' +
        'of as of, get, set }\nexport const all = [from, as, of, async, target, meta, type, source, defer]',
    'b.js': 'export const from = 1, as = 2, of = 3\nexport default 4'
  },
  'an import called type': {
    'a.js': 'import type from "./b.js"\nimport { type as as } from "./b.js"\nexport const all = [type, as]',
    'b.js': 'export default 1\nexport const type = 2'
  },
  'members called import and meta': {
    'a.js': 'const o = { import: (x) => x, meta: 2 }\nexport const all = [o.import("x"), o.meta, ' +
      'o?.import(1)]\nclass A { import () { return 1 } static export = 2 }\nexport const more = [new ' +
        'A().import(), A.export]'
  },
  'greater-than after a decrement': {
    'a.js': 'let a = 3\nconst all = []\nwhile (a-->0) all.push(a)\nexport { all }'
  },
  'a regular expression after parentheses and braces': {
    'a.js': 'const a = 4, g = 2\nif (a) /x/.test("x")\n{ }/y/.test("y")\nexport const all = [(a) / 2 / g, ' +
      '`${/`/.source}`, /[/]export/.source, a\n/ 2 /\ng]'
  },
  'nested templates': {
    'a.js': 'import { b } from "./b.js"\nexport const a = `1 ${`2 ${b + `${{ b }.b}`} }`} \\` ' +
      '${"}"}`\nexport const raw = String.raw`\\u{}${b}\\x`',
    'b.js': 'export const b = "b"'
  },
  'old words as names': {
    'a.js': 'const abstract = 1, boolean = 2, int = 3, async = 4, of = 5, get = 6\nexport const all = ' +
      '[abstract, boolean, int, async, of, get]\nconst f = async => async\nexport const g = f(1)'
  },
  'functions within blocks': {
    'a.js': 'const all = []\nall.push(typeof inner)\n{ all.push(inner()); function inner () { return 1 } ' +
      '}\nall.push(typeof inner)\nexport { all }'
  },
  'functions declared after their use': {
    'a.js': 'export const all = [f(), g.name]\nfunction f () { return 1 }\nfunction g () {}'
  },
  'getters, setters, private names and labels': {
    'a.js': 'import { k } from "./b.js"\nclass A { #k = k; get k () { return this.#k } set k (v) { this.#k ' +
      '= v + k } static has (o) { return #k in o } static #s () { return k } static s = A.#s() }\nconst a ' +
        '= new A()\na.k = 1\nk1: { break k1 }\nexport const all = [a.k, A.has(a), A.s]',
    'b.js': 'export const k = 10'
  },
  'optional chains, exponents, big integers and separators': {
    'a.js': 'import { o } from "./b.js"\nexport const all = [o?.a?.[0]?.b, o.x?.y.z, 2 ** 3 ** 2, 10n ** ' +
      '20n, 1_000, o.n ?? 5, o.f?.(1)]',
    'b.js': 'export const o = { a: [{ b: 1 }], f: (x) => x }'
  },
  'newer regular expressions': {
    'a.js': 'export const all = ["a-b".match(/(?<x>a)-(?<y>b)/v).groups.y, /[\\p{L}--[a-z]]/v.test("a"), ' +
      '/(?<=a)b/dg.exec("ab").indices[0]]'
  },
  'direct eval': {
    'a.js': 'let a = 1\neval("a = 2; var b = 3")\nexport const all = [a, typeof b]\nexport { a }'
  },
  'functions made of text': {
    'a.js': 'let hidden = 1\nexport const all = [new Function("a", "return typeof hidden + a")(1), (0, ' +
      'eval)("typeof hidden")]'
  },
  'import() within eval': {
    'a.js': 'export const { sep } = await eval("import(\'node:path/posix\')")\nexport const more = (await ' +
      'new Function("return import(\'node:path/posix\')")()).sep'
  },
  'errors keep their line and column': {
    'a.js': 'import { b } from "./b.js"\n\nexport const places = [\n  new Error().stack.split("\\n")[1],\n ' +
      '   b(), new Error().stack.split("\\n")[1].slice(-0),\n  (() => { try { null.x } catch (error) { ' +
        'return error.stack.split("\\n")[1] } })()\n].map((line) => typeof line === "string" ? ' +
          'line.match(/:(\\d+:\\d+)\\)?$/)?.[1] : line).filter((_, index) => index !== 2)',
    'b.js': '/* a comment\n   of two lines */ export const b = () => new Error().stack.split("\\n")[1]'
  },
  'a syntax error': { 'a.js': 'export const a = (\n' },
  'an early error': { 'a.js': 'const a = 1\nconst a = 2' },
  'return at the top': { 'a.js': 'return 1' },
  'await as a name': { 'a.js': 'const await = 1' },
  'yield as a name': { 'a.js': 'const yield = 1' },
  'new.target at the top': { 'a.js': 'new.target' },
  with: { 'a.js': 'with ({}) {}' },
  'an octal number': { 'a.js': 'export const a = 010' },
  'an octal escape': { 'a.js': 'export const a = "\\01"' },
  'delete of a name': { 'a.js': 'let a\ndelete a' },
  'an HTML comment': { 'a.js': '<!-- x' },
  'two functions of one name': { 'a.js': 'function a () {}\nfunction a () {}' },
  'a function and a variable of one name': { 'a.js': 'var a\nfunction a () {}' },
  'an import and a variable of one name': { 'a.js': 'import { a } from "./a.js"\nlet a' },
  'an export twice': { 'a.js': 'let a\nexport { a, a }' },
  'an export of nothing': { 'a.js': 'export { nope }' },
  'an export within a block': { 'a.js': '{ export const a = 1 }' },
  'an import within a function': { 'a.js': 'function f () { import a from "./a.js" }' },
  'assignments to arguments and eval': { 'a.js': 'arguments = 1' },
  'a broken regular expression': { 'a.js': 'export const a = /(/' },
  'a break out of nothing': { 'a.js': 'break' },
  'a private name of nobody': { 'a.js': 'class A { m () { return this.#x } }' },
  'super at the top': { 'a.js': 'super.x' },
  'a lone surrogate as a name': { 'a.js': 'let a\nexport { a as "\\uD800" }' },
  'a type annotation in JavaScript': { 'a.js': 'const a: number = 1' },
  'an element in JavaScript': { 'a.js': 'const a = <div/>' }
}
