// Every form of export.
/* eslint-disable no-template-curly-in-string */

import type { Cases } from './case.ts'

export const EXPORTS: Cases = {
  'several constants in one statement': { 'a.js': 'export const a = 1, b = 2' },
  'let, var and const': { 'a.js': 'export let a = 1\nexport var b = 2\nexport const c = 3' },
  'a variable without a value': { 'a.js': 'export let a\nexport var b' },
  'an object pattern': { 'a.js': 'export const { a, b: c, ...rest } = { a: 1, b: 2, d: 3, e: 4 }' },
  'an array pattern': { 'a.js': 'export const [a, , b = 5, ...c] = [1, 2, undefined, 4, 5]' },
  'nested patterns with defaults': {
    'a.js': 'export let { a: { b: [c = 1, { d }] = [] } = {} } = { a: { b: [undefined, { d: 2 }] } }'
  },
  'a computed key in a pattern': {
    'a.js': 'const key = "x"\nexport const { [key]: value, [`${key}y`]: other } = { x: 1, xy: 2 }'
  },
  'a function': { 'a.js': 'export function a (x, y) { return x + y }\nexport const sum = a(1, 2)' },
  'functions of all kinds': {
    'a.js': 'export function* g () { yield 1 }\nexport async function f () {}\nexport async function* h () ' +
      '{}\nexport const list = [...g()]'
  },
  'a class': {
    'a.js': 'export class A { static x = 1; #p = 2; get p () { return this.#p } static { this.y = this.x + ' +
      '1 } }\nexport const p = new A().p'
  },
  'a list': { 'a.js': 'const a = 1\nfunction b () {}\nclass C {}\nexport { a, b, C }' },
  'a list before its declarations': {
    'a.js': 'export { a, b as bb, C }\nconst a = 1\nlet b = 2\nclass C {}'
  },
  'a list with a comma at its end': { 'a.js': 'const a = 1\nexport { a, }' },
  'an empty list': { 'a.js': 'export {}' },
  'no export': { 'a.js': 'log("ran")' },
  'an empty file': { 'a.js': '' },
  'only a comment': { 'a.js': '// nothing' },
  'one local name under several names': { 'a.js': 'let a = 1\nexport { a, a as b, a as default }\na = 2' },
  'string names': {
    'a.js': 'const a = 1\nexport { a as "a b", a as "☿", a as "" , a as "__proto__", a as "default" }'
  },
  'names that are numbers': { 'a.js': 'const a = 1\nexport { a as "10", a as "9", a as "b", a as "1" }' },
  'a string name of another module': {
    'a.js': 'export { "x y" as "z w" } from "./b.js"\nimport { "x y" as local } from "./b.js"\nexport { ' +
      'local }',
    'b.js': 'const a = 5\nexport { a as "x y" }'
  },
  'names that are keywords': {
    'a.js': 'const a = 1\nexport { a as if, a as class, a as import, a as let, a as await, a as then1 }'
  },
  'names of Object.prototype': {
    'a.js': 'export const toString = 1\nexport const hasOwnProperty = 2\nexport const constructor = ' +
      '3\nexport const valueOf = 4'
  },
  'names that the machinery could use': {
    'a.js': 'export const $ = 1, $d = 2, $m = 3, $i = 4, $x = 5, $h = 6\nexport { $ as $$ }\nimport { z } ' +
      'from "./b.js"\nexport const sum = z + $ + $x',
    'b.js': 'export const z = 10'
  },
  'names with escapes': { 'a.js': 'export const \\u0061b = 1\nexport const c\\u{64} = ab + 1' },
  'names beyond ASCII': {
    'a.js': 'export const größe = 1, 价格 = 2, 𝒳 = 3\nimport { größe as g } from "./a.js"\nexport const ' +
      'twice = g * 2'
  },
  'a default number': { 'a.js': 'export default 1 + 1' },
  'a default in parentheses': { 'a.js': 'export default (1 + 2);' },
  'a default object': { 'a.js': 'export default { a: 1, b: [2] }' },
  'a default array at once': { 'a.js': 'export default[1, 2]' },
  'a default template': { 'a.js': 'export default`a${1}`' },
  'a default named function': {
    'a.js': 'export default function a () { return a.name }\nexport const called = a()'
  },
  'a default function without a name': { 'a.js': 'export default function () { return 1 }' },
  'a default function without a name, called before': {
    'a.js': 'import self from "./a.js"\nexport const early = self(2)\nexport default function (n) { return ' +
      'n * 2 }'
  },
  'a default generator without a name': { 'a.js': 'export default function* () { yield 1 }' },
  'a default async function without a name': { 'a.js': 'export default async function () { return 1 }' },
  'a default async generator without a name': { 'a.js': 'export default async function* (a, b) { yield a }' },
  'a default function with comments before its parentheses': {
    'a.js': 'export default function /* ( */ () { return 1 } // )'
  },
  'a default function followed by parentheses': {
    'a.js': 'export default function () { log("never called") }\n(log)("called")'
  },
  'a default function expression': { 'a.js': 'export default (function () { return 1 })' },
  'a default named function expression': {
    'a.js': 'export default (function inner () { return inner.name })'
  },
  'a default arrow function': { 'a.js': 'export default () => 1' },
  'a default arrow function of several lines': { 'a.js': 'export default async (a, b) => {\n  return a\n}' },
  'a default class': { 'a.js': 'export default class A { static x = A.name }' },
  'a default class without a name': { 'a.js': 'export default class { static x = this.name; static y = 2 }' },
  'a default class without a name, followed by parentheses': {
    'a.js': 'export default class {}\n(log)("called")'
  },
  'a default class with a member called name': {
    'a.js': 'export default class { static name () { return "mine" } }'
  },
  'a default class in parentheses': { 'a.js': 'export default (class { static x = this.name });' },
  'a default class expression with a name': {
    'a.js': 'export default (class Inner { static x = Inner.name })'
  },
  'a default class that extends': {
    'a.js': 'class B { b () { return 1 } }\nexport default class extends B {}'
  },
  'a default variable is a copy': { 'a.js': 'let a = 1\nexport default a\na = 2\nexport { a }' },
  'a default function is live': { 'a.js': 'export default function f () { return 1 }\nf = () => 2' },
  'a default class is live': { 'a.js': 'export default class A {}\nA = 3' },
  'a default by a list is live': { 'a.js': 'let a = 1\nexport { a as default }\na = 2' },
  'a default called default in an object': { 'a.js': 'export default { default: 1 }.default' },
  'a default sequence': { 'a.js': 'export default (log("one"), 2)' },
  'a default assignment': { 'a.js': 'let a\nexport default a = 3\nexport { a }' },
  'a default regular expression': { 'a.js': 'export default /export default 1/g.source' },
  'a default with line breaks and comments': {
    'a.js': 'export /* a */\n  // b\n  default // c\n  /* d */ 7\nexport const here = new ' +
      'Error().stack.split("\\n")[1].split(":").at(-2)'
  },
  'a default await': { 'a.js': 'export default await Promise.resolve(4)' },
  'a default yield of nothing': { 'a.js': 'export default typeof yieldless' },
  'all at once': {
    'a.js': 'import d, * as ns from "./b.js"\nexport default d\nexport { ns, x as y } \nexport * from ' +
      '"./b.js"\nexport * as all from "./b.js"\nconst x = 1',
    'b.js': 'export default 1\nexport const b = 2'
  },
  're-exported names': {
    'a.js': 'export { a, b as c, default, default as d } from "./b.js"',
    'b.js': 'export const a = 1, b = 2\nexport default 3'
  },
  're-exported imports': {
    'a.js': 'import x, { a, b as c } from "./b.js"\nexport { a, c, x }',
    'b.js': 'export const a = 1, b = 2\nexport default 3'
  },
  're-exported namespace': {
    'a.js': 'import * as ns from "./b.js"\nexport { ns }\nexport * as more from "./b.js"\nexport const ' +
      'same = ns === (await import("./b.js"))',
    'b.js': 'export const a = 1\nexport default 3'
  },
  'a namespace as the default': { 'a.js': 'export * as default from "./b.js"', 'b.js': 'export const a = 1' },
  'a namespace under a string name': {
    'a.js': 'export * as "n s" from "./b.js"', 'b.js': 'export const a = 1'
  },
  'a chain of re-exports': {
    'a.js': 'export { z } from "./b.js"',
    'b.js': 'export { y as z } from "./c.js"',
    'c.js': 'export { x as y } from "./d.js"',
    'd.js': 'export let x = 1\nx++'
  },
  'stars of two modules': {
    'a.js': 'export * from "./b.js"\nexport * from "./c.js"',
    'b.js': 'export const b = 1\nexport default 9',
    'c.js': 'export const c = 2\nexport default 8'
  },
  'a star that an export of one\'s own covers': {
    'a.js': 'export * from "./b.js"\nexport const b = "own"', 'b.js': 'export const b = 1, c = 2'
  },
  'a star that a re-export covers': {
    'a.js': 'export * from "./b.js"\nexport { x as b } from "./c.js"',
    'b.js': 'export const b = 1, c = 2',
    'c.js': 'export const x = "other"'
  },
  'stars that disagree leave the name out': {
    'a.js': 'export * from "./b.js"\nexport * from "./c.js"',
    'b.js': 'export const x = 1, b = 1',
    'c.js': 'export const x = 2, c = 2'
  },
  'stars that lead to one binding': {
    'a.js': 'export * from "./b.js"\nexport * from "./c.js"',
    'b.js': 'export * from "./d.js"',
    'c.js': 'export { x } from "./d.js"\nexport { x as y } from "./d.js"',
    'd.js': 'export const x = 1'
  },
  'stars in a circle': {
    'a.js': 'export * from "./b.js"\nexport const a = 1', 'b.js': 'export * from "./a.js"\nexport const b = 2'
  },
  'a star of itself': { 'a.js': 'export * from "./a.js"\nexport const a = 1' },
  'a star of a package': { 'a.js': 'export * from "node:path/posix"' },
  'a star of CommonJS': { 'a.js': 'export * from "./b.cjs"', 'b.cjs': 'exports.x = 1; exports.y = 2' },
  'a binding changed later': {
    'a.js': 'import { count, grow, set } from "./b.js"\nconst seen = ' +
      '[count]\ngrow()\nseen.push(count)\nset(9)\nseen.push(count)\nexport { seen, count }',
    'b.js': 'export let count = 0\nexport function grow () { count++ }\nexport const set = (n) => { ({ ' +
      'count } = { count: n }) }'
  },
  'a binding changed by a loop': {
    'a.js': 'import { i } from "./b.js"\nexport const end = i',
    'b.js': 'export var i\nfor (i of [1, 2, 3]);\nfor (i = 7; i < 9; i++);'
  },
  'a function that is replaced': {
    'a.js': 'import { f, replace } from "./b.js"\nexport const before = f()\nreplace()\nexport const after ' +
      '= f()',
    'b.js': 'export function f () { return 1 }\nexport function replace () { f = () => 2 }'
  }
}
