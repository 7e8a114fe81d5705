// Every form of import, and the properties of imported names.
/* eslint-disable no-template-curly-in-string */

import type { Cases } from './case.ts'

const B =
  'export const a = 1, b = 2\nexport default "d"\nexport function f () { return this }\nexport const o = { ' +
    'm () { return this === o } }'

export const IMPORTS: Cases = {
  'a default and names': {
    'a.js': 'import d, { a, b as c } from "./b.js"\nexport const all = [d, a, c]', 'b.js': B
  },
  'a default by its name': { 'a.js': 'import { default as d } from "./b.js"\nexport { d }', 'b.js': B },
  'a default and a namespace': {
    'a.js': 'import d, * as ns from "./b.js"\nexport const all = [d, ns.default, ns.a]', 'b.js': B
  },
  'for its effect': { 'a.js': 'import "./b.js"\nlog("a")', 'b.js': 'log("b")' },
  'an empty list': { 'a.js': 'import {} from "./b.js"\nlog("a")', 'b.js': 'log("b")' },
  'one module many times': {
    'a.js': 'import { a } from "./b.js"\nimport { a as again, b } from "./b.js"\nimport * as ns from ' +
      '"./b.js"\nexport const all = [a, again, b, ns.a]',
    'b.js': `log("once")\n${B}`
  },
  'one module by several spellings': {
    'a.js': 'import { a } from "./b.js"\nimport { a as c } from "./x/../b.js"\nimport { a as d } from ' +
      '"././b.js"\nexport const all = [a === c, c === d]',
    'b.js': 'log("once")\nexport const a = {}'
  },
  'modules by query and hash are each their own': {
    'a.js': 'import { a } from "./b.js?1"\nimport { a as c } from "./b.js?2"\nimport { a as d } from ' +
      '"./b.js#x"\nexport const same = [a === c, a === d]',
    'b.js': 'log(import.meta.url.slice(-6))\nexport const a = {}'
  },
  'a name with percent signs and spaces': {
    'a.js': 'export { a } from "./b%20c.js"', 'b c.js': 'export const a = 1'
  },
  'a file URL': {
    'a.js': 'const { a } = await import(new URL("./b.js", import.meta.url))\nexport { a }', 'b.js': B
  },
  'after its use': {
    'a.js': 'export const early = f2()\nfunction f2 () { return a }\nimport { a } from "./b.js"', 'b.js': B
  },
  'from a folder above and below': {
    'x/a.js': 'export { b } from "../y/b.js"\nexport { c } from "./z/c.js"',
    'y/b.js': 'export const b = 1',
    'x/z/c.js': 'export const c = 2'
  },
  'without spaces': {
    'a.js': 'import d,{a as x,b}from"./b.js";import*as ns from"./b.js";export{d,x,b,ns}', 'b.js': B
  },
  'over many lines with comments': {
    'a.js': 'import /* 1 */ d // 2\n  , { // }\n  a /* , z */ as\n  x,\n} from /* "./no.js" */ ' +
      '"./b.js"\nexport { d, x }',
    'b.js': B
  },
  'a name is called with no this': {
    'a.js': 'import { f } from "./b.js"\nexport const all = [f(), (f)(), f?.(), f.call(1), [f][0] === f]',
    'b.js': B
  },
  'a default is called with no this': {
    'a.js': 'import f from "./b.js"\nexport const all = [f(), f?.()]',
    'b.js': 'export default function () { return this }'
  },
  'a template is tagged with no this': {
    'a.js': 'import { tag } from "./b.js"\nexport const all = tag`a${1}b`',
    'b.js': 'export function tag (strings, ...values) { return [this, strings.raw, values] }'
  },
  'a member of a namespace is called with the namespace': {
    'a.js': 'import * as ns from "./b.js"\nexport const same = ns.f() === ns', 'b.js': B
  },
  'a method keeps its object': { 'a.js': 'import { o } from "./b.js"\nexport const same = o.m()', 'b.js': B },
  'a constructor': {
    'a.js': 'import D, { C } from "./b.js"\nimport * as ns from "./b.js"\nexport const all = [new C(1).n, ' +
      'new C().n, new D().n, new ns.C(2).n, new C.Inner().n, C.make().n, new C(...[4]).n]',
    'b.js': 'export class C { static Inner = class { n = 7 }; static make () { return new this(8) } ' +
      'constructor (n) { this.n = n } }\nexport default class { n = 3 }'
  },
  'a base class': {
    'a.js': 'import { C } from "./b.js"\nclass D extends C { constructor () { super(); this.d = super.m() ' +
      '} }\nexport const d = { ...new D() }',
    'b.js': 'export class C { c = 1; m () { return 2 } }'
  },
  'a class field, a computed key and a static block': {
    'a.js': 'import { k, v } from "./b.js"\nclass A { [k] = v; static [k + "s"] = v; static { this.t = v } ' +
      '}\nexport const all = [{ ...new A() }, { ...A }]',
    'b.js': 'export const k = "key", v = 5'
  },
  'a default of a parameter, beside a variable of its name': {
    'a.js': 'import { a } from "./b.js"\nfunction f (x = a) { var a = 9; return [x, a] }\nconst g = ({ y = ' +
      'a } = {}) => y\nexport const all = [f(), g()]',
    'b.js': B
  },
  'shorthand properties': {
    'a.js': 'import { a, b } from "./b.js"\nexport const o = { a, b, c: a, [a]: b, a2: { a } }', 'b.js': B
  },
  'a name shadowed everywhere': {
    'a.js': `import { a } from "./b.js"
      const seen = [a]
      { const a = 2; seen.push(a) }
      { function a () {} seen.push(typeof a) }
      for (const a of [3]) seen.push(a)
      for (let a = 4; a < 5; a++) seen.push(a)
      for (var i in { a: 1 }) seen.push(i)
      try { throw 5 } catch (a) { seen.push(a) }
      try { throw { a: 6 } } catch ({ a }) { seen.push(a) }
      ;((a) => seen.push(a))(7)
      ;(({ x: a }, [b = a]) => seen.push(a, b))({ x: 8 }, [])
      ;(function a () { seen.push(typeof a) })()
      ;(class a { static x = seen.push(typeof a) })
      switch (1) { case 1: let a = 9; seen.push(a) }
      ;(function (...a) { seen.push(a.length) })(1, 2)
      a: for (;;) break a
      seen.push({ a: 10 }.a, { a () { return 11 } }.a(), class { static a = 12 }.a)
      function inner () { seen.push(a); var a = 13; seen.push(a) }
      inner()
      seen.push(a)
      export { seen }`,
    'b.js': B
  },
  'an undeclared name of the same text in strings': {
    'a.js': 'import { a } from "./b.js"\nexport const all = ["a", `a ${a} \\${a}`, /a/.source, "import { b ' +
      '} from \'./b.js\'"] // a',
    'b.js': B
  },
  'typeof, void and delete of members': {
    'a.js': 'import { a, o2 } from "./b.js"\nexport const all = [typeof a, void a, delete o2.x, o2, typeof ' +
      'o2.y]',
    'b.js': 'export const a = 1\nexport const o2 = { x: 1 }'
  },
  'statements that begin with an imported call, without semicolons': {
    'a.js': 'import { say } from "./b.js"\nconst a = 1\nsay(a)\nif (a) say(2)\nelse say(3)\nfor (const x ' +
      'of [4]) say(x)\ndo say(5)\nwhile (false)\nl: say(6)\nconst f = () => say(7)\nf()\nsay`8`\nswitch ' +
        '(1) { case 1: say(9)\nsay(10) }\nconst b = { f }\nsay(11), say(12)\nclass A { static { ' +
          'say(13)\nsay(14) } }',
    'b.js': 'export const say = (x) => log(String(x))'
  },
  'exports between statements without semicolons': {
    'a.js': 'const a = log\nexport { a }\n;(log)("x")\nlet b = a\nexport default a\n;[1].map(log)\nimport ' +
      '"./b.js"\n;`t`',
    'b.js': ''
  },
  'statements that an import alone keeps apart': {
    'a.js': 'const a = log\nimport "./b.js"\n(log)("x")\nlet b = a\nexport { b }\n["one"].map((x) => ' +
      'log(x))\nlet c = a\nexport * from "./b.js"\n`t`',
    'b.js': ''
  },
  'an assignment': { 'a.js': 'import { a } from "./b.js"\nexport const never = 1\na = 2', 'b.js': B },
  'an assignment to a namespace': { 'a.js': 'import * as ns from "./b.js"\nns = 2', 'b.js': B },
  'assignments of all kinds': {
    'a.js': `import { a } from "./b.js"
      const tries = [() => { a = 1 }, () => { a += 1 }, () => { a++ }, () => { --a }, () => { [a] = [1] }, () => { ({ a } = { a: 1 }) }, () => { ({ a = 2 } = {}) },
        () => { ({ b: a } = { b: 1 }) }, () => { [...a] = [1] }, () => { for (a of [1]); }, () => { for (a in { x: 1 }); }, () => { a &&= 1 }]
      export const all = tries.map((f) => { try { f(); return "none" } catch (error) { return error.name + ": " + error.message } })`,
    'b.js': 'export let a = 1'
  },
  'logical assignments that do not assign': {
    'a.js': 'import { a } from "./b.js"\na ||= 1\na ??= 1\nexport const all = a', 'b.js': 'export let a = 1'
  },
  'a missing name': { 'a.js': 'import { nope } from "./b.js"\nlog("never")', 'b.js': 'log("never either")' },
  'a missing default': { 'a.js': 'import nope from "./b.js"', 'b.js': 'export const a = 1' },
  'a missing re-export': {
    'a.js': 'import "./b.js"', 'b.js': 'export { nope } from "./c.js"\nlog("never")', 'c.js': 'log("never")'
  },
  'a name that stars disagree about': {
    'a.js': 'import { x } from "./m.js"',
    'm.js': 'export * from "./b.js"\nexport * from "./c.js"',
    'b.js': 'export const x = 1',
    'c.js': 'export const x = 2'
  },
  'a re-export in a circle': {
    'a.js': 'import { x } from "./b.js"',
    'b.js': 'export { x } from "./c.js"',
    'c.js': 'export { x } from "./b.js"'
  },
  'a default by a star': {
    'a.js': 'import d from "./b.js"', 'b.js': 'export * from "./c.js"', 'c.js': 'export default 1'
  },
  'a name that a namespace lacks': {
    'a.js': 'import * as ns from "./b.js"\nexport const all = [ns.nope, "nope" in ns, ns?.nope?.x]', 'b.js': B
  },
  'a file that is not there': { 'a.js': 'import "./nope.js"' },
  'a folder': { 'a.js': 'import "./lib"', 'lib/index.js': '' },
  'a package that is not there': { 'a.js': 'import "no-such-package"' },
  'built-in modules': {
    'a.js': 'import fs, { readFileSync } from "fs"\nimport * as path from "node:path"\nexport const all = ' +
      '[fs.readFileSync === readFileSync, path.default.sep === path.sep, (await import("node:fs")).default ' +
        '=== fs]'
  },
  'a missing name of a built-in module': { 'a.js': 'import { nope } from "node:fs"' },
  packages: {
    'a.js': 'import d, { n, count } from "pkg"\nimport { deep } from "pkg/deep"\nimport * as ns from ' +
      '"pkg"\nns.grow()\nexport { d, n, deep, count }\nexport const keys = Object.keys(ns)',
    'node_modules/pkg/package.json': '{ "name": "pkg", "type": "module", "exports": { ".": "./main.js", ' +
      '"./deep": "./lib/deep.js" } }',
    'node_modules/pkg/main.js': 'export default 1\nexport const n = 2\nexport let count = 0\nexport const ' +
      'grow = () => count++',
    'node_modules/pkg/lib/deep.js': 'export const deep = 3'
  },
  'a package that a package hides': {
    'a.js': 'import "pkg/hidden.js"',
    'node_modules/pkg/package.json': '{ "name": "pkg", "exports": "./main.js" }',
    'node_modules/pkg/main.js': '',
    'node_modules/pkg/hidden.js': ''
  },
  'a missing name of a package': {
    'a.js': 'import { nope } from "pkg"',
    'node_modules/pkg/package.json': '{ "name": "pkg", "type": "module", "exports": "./main.js" }',
    'node_modules/pkg/main.js': 'export const a = 1'
  },
  'a package between modules': {
    'a.js': 'import "./first.js"\nimport "pkg"\nimport "./last.js"\nlog("a")',
    'first.js': 'globalThis.setUp = "yes"\nlog("first")',
    'last.js': 'log("last")',
    'node_modules/pkg/package.json': '{ "name": "pkg", "type": "module", "exports": "./main.js" }',
    'node_modules/pkg/main.js': 'log("pkg " + globalThis.setUp)'
  },
  'a package between modules that import it again': {
    'a.js': 'import "./x.js"\nimport "./y.js"',
    'x.js': 'import "./x1.js"\nimport "pkg"\nlog("x")',
    'x1.js': 'log("x1")',
    'y.js': 'import "pkg"\nimport "pkg2"\nlog("y")',
    'node_modules/pkg/package.json': '{ "name": "pkg", "type": "module", "exports": "./main.js" }',
    'node_modules/pkg/main.js': 'log("pkg")',
    'node_modules/pkg2/package.json': '{ "name": "pkg2", "type": "module", "exports": "./main.js" }',
    'node_modules/pkg2/main.js': 'import "pkg"\nlog("pkg2")'
  },
  'a package whose evaluation fails': {
    'a.js': 'import "./b.js"\nimport "pkg"\nimport "./c.js"',
    'b.js': 'log("b")',
    'c.js': 'log("never")',
    'node_modules/pkg/package.json': '{ "name": "pkg", "type": "module", "exports": "./main.js" }',
    'node_modules/pkg/main.js': 'log("pkg")\nthrow new TypeError("broken")'
  },
  'imports of one\'s own package': {
    'tools/a.js': 'export { x } from "#lib/x"\nexport { y } from "own/y"',
    'package.json': '{ "name": "own", "type": "module", "imports": { "#lib/*": "./lib/*.js" }, "exports": ' +
      '{ "./*": "./lib/*.js" } }',
    'lib/x.js': 'export const x = 1',
    'lib/y.js': 'export const y = 2'
  },
  'CommonJS that passes on another': {
    'a.js': 'export { x } from "./b.cjs"',
    'b.cjs': 'module.exports = require("./c.cjs")\n',
    'c.cjs': 'exports.x = 1'
  },
  'CommonJS by name and whole': {
    'a.js': 'import whole, { x, y } from "./b.cjs"\nimport * as ns from "./b.cjs"\nexport const all = ' +
      '[whole, x, y, Object.keys(ns)]',
    'b.cjs': 'exports.x = 1\nmodule.exports.y = require("./c.cjs")\nif (false) exports.never = 1',
    'c.cjs': 'module.exports = "c"'
  },
  'CommonJS that is a function': {
    'a.js': 'import f from "./b.cjs"\nexport const all = [f(), f.extra]',
    'b.cjs': 'module.exports = function () { return typeof this }\nmodule.exports.extra = 1'
  },
  'CommonJS that was a module': {
    'a.js': 'import d, { x, __esModule } from "./b.cjs"\nexport { d, x, __esModule }',
    'b.cjs': 'Object.defineProperty(exports, "__esModule", { value: true })\nexports.default = ' +
      '1\nexports.x = 2'
  },
  'CommonJS that throws': {
    'a.js': 'import "./c.js"\nimport "./b.cjs"', 'b.cjs': 'throw new RangeError("b")', 'c.js': 'log("c")'
  },
  'a missing name of CommonJS': { 'a.js': 'import { nope } from "./b.cjs"', 'b.cjs': 'exports.x = 1' },
  JSON: {
    'a.js': 'import data from "./b.json" with { type: "json" }\nimport * as ns from "./b.json" with { ' +
      'type: "json" }\nexport { data, ns }',
    'b.json': '{ "a": [1, { "__proto__": 2 }] }'
  },
  'a name of JSON': { 'a.js': 'import { a } from "./b.json" with { type: "json" }', 'b.json': '{ "a": 1 }' },
  'JSON that is none': { 'a.js': 'import data from "./b.json" with { type: "json" }', 'b.json': '{ a: 1 }' },
  'an attribute that does not fit': { 'a.js': 'import "./b.js" with { type: "json" }', 'b.js': '' },
  'an unknown attribute': { 'a.js': 'import "./b.js" with { colour: "red" }', 'b.js': '' },
  'data: URLs': { 'a.js': 'import { x } from "data:text/javascript,export const x = 1"\nexport { x }' }
}
