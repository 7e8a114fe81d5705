// The order in which modules run, cycles, top-level await and errors.
/* eslint-disable no-template-curly-in-string */

import type { Cases } from './case.ts'

export const EVALUATION: Cases = {
  'depth first, in the order of the statements': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("a")',
    'b.js': 'import "./d.js"\nlog("b")',
    'c.js': 'import "./d.js"\nimport "./e.js"\nlog("c")',
    'd.js': 'log("d")',
    'e.js': 'log("e")'
  },
  're-exports count as imports': {
    'a.js': 'log("a")\nexport * from "./b.js"\nimport "./c.js"\nexport { x } from "./d.js"',
    'b.js': 'log("b")',
    'c.js': 'log("c")',
    'd.js': 'log("d")\nexport const x = 1'
  },
  'modules without await run with nothing in between': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("a")',
    'b.js': 'Promise.resolve().then(() => log("later than all"))\nqueueMicrotask(() => log("and ' +
      'this"))\nlog("b")',
    'c.js': 'log("c")'
  },
  'a hoisted function in a cycle': {
    'a.js': 'import { b } from "./b.js"\nexport function a () { return "a" }\nexport const got = b',
    'b.js': 'import { a } from "./a.js"\nexport const b = a()'
  },
  'a hoisted default function in a cycle': {
    'a.js': 'import { b } from "./b.js"\nexport default function () { return "a" }\nexport const got = b',
    'b.js': 'import a from "./a.js"\nexport const b = a() + a.name'
  },
  'a hoisted function that needs what is not there yet': {
    'a.js': 'import "./b.js"\nconst x = 1\nexport function a () { return x }',
    'b.js': 'import { a } from "./a.js"\nexport const b = a()'
  },
  'a var in a cycle': {
    'a.js': 'import { early } from "./b.js"\nexport var a = 1\nexport { early }',
    'b.js': 'import { a } from "./a.js"\nexport const early = a'
  },
  'let, const, class and default in a cycle': {
    'a.js': 'import { all } from "./b.js"\nexport let l = 1\nexport const c = 2\nexport class K {}\nexport ' +
      'default 3\nexport { all }',
    'b.js': 'import d, { l, c as cc, K } from "./a.js"\nimport * as ns from "./a.js"\nconst tries = [() => ' +
      'l, () => cc, () => new K(), () => d, () => typeof l, () => ns.l, () => ns.default, () => ' +
        'Object.keys(ns), () => l(), () => `${cc}`]\nexport const all = tries.map((f) => { try { return ' +
          'String(f()) } catch (error) { return error.name + ": " + error.message } })'
  },
  'a cycle that is used later': {
    'a.js': 'import { isOdd } from "./b.js"\nexport const isEven = (n) => n === 0 || isOdd(n - 1)\nexport ' +
      'const all = () => [isEven(4), isOdd(4)]\nlog(String(all()))',
    'b.js': 'import { isEven } from "./a.js"\nexport const isOdd = (n) => n !== 0 && isEven(n - 1)'
  },
  'a module that imports itself': {
    'a.js': 'import * as self from "./a.js"\nimport { a as again } from "./a.js"\nexport const a = ' +
      '1\nexport const all = [self.a, again, Object.keys(self)]'
  },
  'a cycle of three, entered in the middle': {
    'x.js': 'import "./b.js"\nlog("x")',
    'a.js': 'import "./b.js"\nlog("a")',
    'b.js': 'import "./c.js"\nlog("b")',
    'c.js': 'import "./a.js"\nlog("c")'
  },
  'two cycles that share a module': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("a")',
    'b.js': 'import "./a.js"\nimport "./d.js"\nlog("b")',
    'c.js': 'import "./a.js"\nimport "./d.js"\nlog("c")',
    'd.js': 'log("d")'
  },
  'an await at the top': {
    'a.js': 'export const a = await Promise.resolve(1)\nexport const b = [await 2, await new ' +
      'Promise((resolve) => setImmediate(resolve, 3))]'
  },
  'an await in a loop, a pattern, a template and a class': {
    'a.js': 'export const all = []\nfor await (const x of [1, Promise.resolve(2)]) all.push(x)\nconst { a ' +
      '= await 3 } = {}\nclass K { static [await "k"] = 5 }\nall.push(a, `${await 4}`, K.k)'
  },
  'a yield of the event loop between siblings': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("a")',
    'b.js': 'log("b1")\nawait new Promise(setImmediate)\nlog("b2")',
    'c.js': 'log("c1")\nawait new Promise(setImmediate)\nlog("c2")'
  },
  'siblings that end in the other order': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nimport "./d.js"\nlog("a")',
    'b.js': 'log("b1")\nawait new Promise((resolve) => setTimeout(resolve, 30))\nlog("b2")',
    'c.js': 'log("c1")\nawait null\nlog("c2")',
    'd.js': 'log("d")'
  },
  'microtasks of siblings that await': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("a")',
    'b.js': 'for (let i = 0; i < 4; i++) { log("b" + i); await null }',
    'c.js': 'for (let i = 0; i < 6; i++) { log("c" + i); await null }'
  },
  'parents of a module that awaits': {
    'a.js': 'import "./p.js"\nimport "./q.js"\nimport "./r.js"\nlog("a")',
    'p.js': 'import "./w.js"\nlog("p")',
    'q.js': 'import "./w.js"\nimport "./p.js"\nlog("q")',
    'r.js': 'log("r")',
    'w.js': 'log("w1")\nawait null\nlog("w2")'
  },
  'a long chain above an await': {
    'a.js': 'import "./b.js"\nlog("a")',
    'b.js': 'import "./c.js"\nlog("b")',
    'c.js': 'import "./d.js"\nlog("c")\nawait null\nlog("c2")',
    'd.js': 'log("d")\nawait null\nlog("d2")'
  },
  'a cycle that awaits': {
    'a.js': 'import "./b.js"\nlog("a1")\nawait null\nlog("a2")',
    'b.js': 'import "./a.js"\nlog("b1")\nawait null\nlog("b2")'
  },
  'a cycle in which one awaits': {
    'a.js': 'import "./b.js"\nlog("a")',
    'b.js': 'import "./c.js"\nlog("b1")\nawait null\nlog("b2")',
    'c.js': 'import "./a.js"\nlog("c")'
  },
  'a cycle that is asked for twice while it awaits': {
    // Node begins with the file that it has read first: b.js is asked for when it awaits already.
    'x.js': 'const first = import("./a.js")\nwhile (globalThis.awaitingCycle !== true) ' +
      'await new Promise((done) => setTimeout(done, 1))\n' +
      'const [a, b] = await Promise.all([first, import("./b.js")])\nexport const all = [a.a, b.b]',
    'a.js': 'import { b } from "./b.js"\nawait null\nexport const a = "a" + b',
    'b.js': 'import "./a.js"\nglobalThis.awaitingCycle = true\n' +
      'export const b = await new Promise((done) => setTimeout(done, 20, "b"))'
  },
  'a module that throws': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("never")',
    'b.js': 'log("b")\nthrow new TypeError("no")',
    'c.js': 'log("never")'
  },
  'a module that throws no error': { 'a.js': 'throw "text"' },
  'a module that throws nothing': { 'a.js': 'throw undefined' },
  'an error of the engine': { 'a.js': 'const x = undefined\nx.y.z' },
  'a name that is not declared': { 'a.js': 'export const a = nope' },
  'an assignment to what is not declared': { 'a.js': 'nope = 1' },
  'an assignment to a constant': { 'a.js': 'const a = 1\na = 2' },
  'a rejected await': {
    'a.js': 'import "./b.js"\nlog("never")', 'b.js': 'log("b")\nawait Promise.reject(new RangeError("late"))'
  },
  'a rejected sibling': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("never")',
    'b.js': 'await null\nthrow new Error("b")',
    'c.js': 'log("c1")\nawait null\nawait null\nlog("c2")'
  },
  'an error is the same for all who ask': {
    'a.js': 'const errors = []\nfor (let i = 0; i < 3; i++) await import("./b.js").catch((error) => ' +
      'errors.push(error))\nawait import("./c.js").catch((error) => errors.push(error))\nexport const all ' +
        '= [errors.length, errors.every((error) => error === errors[0]), errors[0]]',
    'b.js': 'log("once")\nthrow new Error("b")',
    'c.js': 'import "./b.js"\nlog("never")'
  },
  'what ran before an error stays': {
    'a.js': 'await import("./b.js").catch(() => log("failed"))\nexport { x } from "./c.js"\nawait ' +
      'import("./c.js")',
    'b.js': 'import "./c.js"\nthrow new Error("b")',
    'c.js': 'log("c once")\nexport const x = 1'
  },
  'an error in a cycle': {
    // One after the other: of two at once, Node evaluates first what it has read first.
    'a.js': 'export const all = []\nfor (const load of [() => import("./b.js"), () => import("./c.js"), ' +
      '() => import("./b.js")]) all.push(await load().then(() => "loaded", ({ message }) => message))',
    'b.js': 'import "./c.js"\nthrow new Error("b")',
    'c.js': 'import "./b.js"\nlog("c")'
  },
  'an export of a module that failed': {
    'a.js': 'const error = await import("./b.js").catch((error) => error)\nexport const all = ' +
      '[error.message, error.read()]',
    'b.js': 'import * as self from "./b.js"\nexport const x = 1\nconst error = new Error("b")\nerror.read ' +
      '= () => self.x\nthrow error'
  },
  'import() waits and is remembered': {
    'a.js': 'log("a1")\nconst one = import("./b.js")\nconst two = import("./b.js")\nlog("a2")\nconst [x, ' +
      'y] = await Promise.all([one, two])\nlog("a3")\nexport const all = [x === y, one === two, x.b, x === ' +
        '(await import("./b.js"))]',
    'b.js': 'log("b")\nexport const b = 1'
  },
  'import() of what is imported': {
    'a.js': 'import * as ns from "./b.js"\nexport const same = ns === (await import("./b.js"))',
    'b.js': 'export const b = 1'
  },
  'import() of a computed name': {
    'a.js': 'const all = []\nfor (const name of ["b", "c"]) all.push((await ' +
      'import(`./${name}.js`)).default)\nexport { all }',
    'b.js': 'export default "b"',
    'c.js': 'export default "c"'
  },
  'import() of JSON': {
    'a.js': 'export const { default: data } = await import("./b.json", { with: { type: "json" } })',
    'b.json': '[1]'
  },
  'import() of CommonJS and of packages': {
    'a.js': 'const b = await import("./b.cjs")\nconst fs = await import("fs")\nexport const all = ' +
      '[b.default, b.x, typeof fs.default.readFileSync]',
    'b.cjs': 'exports.x = 1'
  },
  'import() that fails': {
    'a.js': `const failures = []
      const note = (error) => failures.push([error.constructor.name, error.code?.startsWith("ERR_") ?? false])
      await import("./nope.js").catch(note)
      await import("no-such-package").catch(note)
      await import("./syntax.js").catch(note)
      await import("./missing.js").catch(note)
      await import({ toString () { throw new RangeError() } }).catch(note)
      await import(Symbol("x")).catch(note)
      await import("./b.js", 1).catch(note)
      await import("./b.js", { with: 1 }).catch(note)
      await import("./b.js", { with: { type: 1 } }).catch(note)
      export { failures }`,
    'b.js': '',
    'syntax.js': 'const = 1',
    'missing.js': 'import { nope } from "./b.js"'
  },
  'import() converts its argument at once': {
    'a.js': 'const promise = import({ toString () { log("converted"); return "./b.js" } ' +
      '})\nlog("after")\nawait promise',
    'b.js': 'log("b")'
  },
  'import() without a wait': {
    'a.js': 'export const settled = import("./b.js").then(() => log("then"))\nlog("a")', 'b.js': 'log("b")'
  },
  'import() within functions and conditions': {
    'a.js': 'const f = async () => (await import("./b.js")).x\nexport const all = [await f(), true ? await ' +
      'import("./b.js").then(({ x }) => x) : 0, typeof import("./b.js")]\nexport const settled = ' +
        'import("./b.js").then(() => {})',
    'b.js': 'export const x = 1'
  },
  'import() of oneself': {
    'a.js': 'export const later = () => import("./a.js")\nexport const x = 1\nexport const settled = ' +
      'later().then((ns) => log("same " + (ns.x === x)))'
  },
  'a module that exports then': {
    'a.js': 'export const got = await import("./b.js")',
    'b.js': 'export function then (resolve) { resolve("thenable") }'
  },
  'import() during the evaluation of what it imports': {
    'a.js': 'export { settled } from "./b.js"\nlog("a")\nexport const x = 1',
    'b.js': 'export const settled = import("./a.js").then(({ x }) => log("x is " + x))\nlog("b")'
  },
  'import() of a module that is awaiting': {
    'a.js': 'const first = import("./b.js")\nawait new Promise(setImmediate)\nconst second = await ' +
      'import("./b.js")\nexport const all = [(await first) === second, second.b]',
    'b.js': 'await new Promise((resolve) => setTimeout(resolve, 20))\nexport const b = 1\nlog("b")'
  },
  'a syntax error anywhere stops everything': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("never")',
    'b.js': 'log("never")',
    'c.js': 'import "./d.js"',
    'd.js': 'let = 1'
  },
  'a missing name anywhere stops everything': {
    'a.js': 'import "./b.js"\nimport "./c.js"\nlog("never")',
    'b.js': 'log("never")',
    'c.js': 'import { x } from "./b.js"'
  }
}
