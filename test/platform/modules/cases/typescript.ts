// TypeScript, TSX, decorators and `using`.
/* eslint-disable no-template-curly-in-string */

import type { Cases } from './case.ts'

const REACT = {
  'node_modules/react/package.json': '{ "name": "react", "type": "module", "exports": { "./jsx-runtime": ' +
    '"./jsx.js" } }',
  'node_modules/react/jsx.js': 'export const Fragment = "fragment"\nexport const jsx = (type, props, key) ' +
    '=> ({ type: typeof type === "function" ? type(props) : type, props, key })\nexport const jsxs = jsx'
}

export const TYPESCRIPT: Cases = {
  annotations: {
    'a.ts': 'interface A { n: number }\ntype B = A | undefined\nexport const a: A = { n: 1 }, b: B = ' +
      'undefined\nexport function f<T extends A> (this: void, x: T, y?: number, ...z: string[]): x is T { ' +
        'return x.n === 1 }\nexport let c!: string'
  },
  'several constants with types': {
    'a.ts': 'export const a: number = 1, b: string = "2"\nexport const { c, d: [e] }: { c: number, d: ' +
      'number[] } = { c: 3, d: [4] }'
  },
  'as, satisfies and the non-null mark': {
    'a.ts': 'const o: any = { a: { b: 1 } }\nexport const all = [o as { a: 1 }, (o as any).a!.b, o!.a ' +
      'satisfies unknown, (o satisfies any), <any>o, [o] as const]'
  },
  'types that end a statement without a semicolon': {
    'a.ts': 'let a = 1 as any\n;[1].map(String)\ntype X = 1\n(a)\nlet b = a!\n;(b)\nexport { a, b }'
  },
  'a type that keeps two statements apart': {
    'a.ts': 'const f: any = () => "called"\nconst a = f as any\n(f)\nexport { a }\nlet b = f\ntype T = ' +
      'string\n[f]\nexport { b }'
  },
  'arrow functions with types': {
    'a.ts': 'export const a = (x: number): number => x\nexport const b = async <T,>(x: T): Promise<T> => ' +
      'x\nexport const c = (\n  x: number\n): {\n  y: number\n} => ({ y: x })\nexport const d = <T extends ' +
        'unknown>(x?: T) => x'
  },
  'a type over several lines before an arrow': {
    'a.ts': 'export const a = (x: number):\n  number |\n  string => x\nexport const b = a(1)'
  },
  overloads: {
    'a.ts': 'export function f (x: number): number\nexport function f (x: string): string\nexport function ' +
      'f (x: any) { return x }\nexport class A { m (x: number): void; m (x: string): void; m (x: any) { ' +
        'return x } }\nexport const all = [f(1), new A().m("x")]\nexport default function g (): ' +
          'void\nexport default function g (x?: number) { return x }'
  },
  'classes with modifiers': {
    'a.ts': 'abstract class A<T> { abstract a: T; abstract m (): void; protected b = 1; private static ' +
      'readonly c: number = 2; declare d: string; e?: number; f!: number; [key: string]: any; get g (): ' +
        'number { return this.b } constructor (x?: T) {} static s () { return A.c } }\nexport class B ' +
          'extends A<number> implements Iterable<number> { a = 5; override m (): void {} ' +
            '*[Symbol.iterator] (): Iterator<number> { yield 1 } public async n () {} }\nexport const all ' +
              '= [{ ...new B() }, new B().g, A.s(), [...new B()]]'
  },
  'a class field without a value': {
    'a.ts': 'class A { a = 1; b?: number }\nclass B extends A { a: any; declare b: any }\nexport const ' +
      'keys = Object.entries(new B())'
  },
  'parameter properties': {
    'a.ts': 'export class A { c = this.a; constructor (readonly a: number, private b = 2, public x?: ' +
      'string) { this.b++ } }\nexport const a = { ...new A(1) }\nclass B extends A { d = 1; constructor ' +
        '(protected readonly e: string) { super(9) } }\nexport const b = { ...new B("e") }'
  },
  enums: {
    'a.ts': 'enum A { X, Y = 5, Z, S = "s", C = X | Y, L = "abc".length }\nexport { A }\nexport enum B { Q ' +
      '= A.Y * 2 }\nexport const all = [A.X, A[5], A.S, A.C, B.Q, B[10]]'
  },
  'an enum in two parts': {
    'a.ts': 'export enum A { X = 1 }\nexport enum A { Y = 2 }\nexport const all = [A.X, A.Y, A[2]]'
  },
  'an enum used before': { 'a.ts': 'export const early = typeof A\nexport enum A { X }' },
  'a constant enum': {
    'a.ts': 'const enum A { X = 7 }\nexport const all = [A.X]\nexport const enum B { Y = 8 }'
  },
  'an enum of another module': {
    'a.ts': 'import { A } from "./b.ts"\nexport enum C { X = A.X + 1 }\nexport const c = C.X',
    'b.ts': 'export enum A { X = 3 }'
  },
  'a declared enum': {
    'a.ts': 'declare enum A { X }\ndeclare const b: number\ndeclare function f (): void\ndeclare class C ' +
      '{}\ndeclare module "x" { const a: number }\ndeclare global { interface Window {} }\nexport const a = 1'
  },
  namespaces: {
    'a.ts': 'export namespace N { export const a = 1; const hidden = 2; export function f () { return a + ' +
      'hidden } export namespace M { export const b = a + 1 } }\nnamespace N { export const c = N.a + 5 ' +
        '}\nexport const all = [N.a, N.f(), N.M.b, N.c, Object.keys(N)]'
  },
  'a namespace beside a function and a class': {
    'a.ts': 'export function f () { return f.x }\nexport namespace f { export const x = 1 }\nexport class ' +
      'A {}\nexport namespace A { export const y = 2 }\nexport const all = [f(), A.y]'
  },
  'a namespace of types alone': {
    'a.ts': 'namespace N { export interface X {} }\nexport const a: N.X = typeof N'
  },
  'a name for a member of a namespace': {
    'a.ts': 'namespace N { export namespace M { export const x = 1 } }\nimport M = N.M\nexport import Y = ' +
      'N.M.x\nexport const x = M.x'
  },
  'imports of types': {
    'a.ts': 'import type { A } from "./gone.ts"\nimport type B from "./gone.ts"\nimport type * as C from ' +
      '"./gone.ts"\nimport { type D, e } from "./b.ts"\nimport { type F } from "./gone.ts"\nexport type { ' +
        'A } from "./gone.ts"\nexport { type D }\nexport type * from "./gone.ts"\nexport const all: [A?, ' +
          'B?, C.X?, F?] = []\nexport { e }',
    'b.ts': 'export type D = 1\nexport const e = 2'
  },
  'imports that are used as types alone': {
    'a.ts': 'import { A } from "./gone.ts"\nimport B from "./gone.ts"\nimport * as C from ' +
      '"./gone.ts"\nimport D, { E } from "./b.ts"\nexport let a: A | B | C.X | typeof D\nexport const e = E',
    'b.ts': 'log("b")\nexport const E = 1\nexport default class {}'
  },
  'imports that nobody uses': {
    'a.ts': 'import { a } from "./gone.ts"\nimport b from "./gone.ts"\nimport {} from "./gone.ts"\nimport ' +
      '"./b.ts"',
    'b.ts': 'log("b")'
  },
  'an import that is only exported': {
    'a.ts': 'import { a } from "./b.ts"\nimport * as ns from "./b.ts"\nexport { a, ns }',
    'b.ts': 'export const a = 1'
  },
  'an import that is only a property, a label or a name of something else': {
    'a.ts': 'import { a } from "./gone.ts"\nexport const o = { a: 1 }.a\nexport function f (a: number) { ' +
      'return a }\nclass A { a = 2 }\nexport const all = [o, f(3), new A().a]'
  },
  'an import that a shorthand, a default or a decorator uses': {
    'a.ts': 'import { a, b } from "./b.ts"\nexport const o = { a }\nexport const f = (x = b) => x\nexport ' +
      'const all = [o, f()]',
    'b.ts': 'export const a = 1, b = 2'
  },
  'an export of a type by its name': { 'a.ts': 'interface A {}\ntype B = A\nclass C {}\nexport { A, B, C }' },
  'a default export of a type': { 'a.ts': 'export default interface A {}\nexport const b = 1' },
  'the names of what TypeScript compiles': {
    'a.ts': 'import { b } from "./b.js"\nimport { c } from "./c.ts"\nexport const all = [b, c, (await ' +
      'import("./b.js")).b]',
    'b.ts': 'export const b: number = 1',
    'c.ts': 'export const c: number = 2'
  },
  'a generic call and a comparison': {
    'a.ts': 'const f = <T,>(x: T) => x\nconst a: any = 1, b: any = 2, c: any = 3\nexport const all = ' +
      '[f<number>(1), a < b, b > c, new Map<string, number>([["x", 1]]).size, f<string>`x`]'
  },
  'words of TypeScript as names': {
    'a.ts': 'const type = 1, as = 2, namespace = 3, declare = 4, abstract = 5, of = 6, satisfies = 7, is = ' +
      '8, module = 9\nexport const all = [type, as, namespace, declare, abstract, of, satisfies, is, ' +
        'module]\nexport { type as interface }'
  },
  'a template, a pattern and a string that look like types': {
    'a.ts': 'export const all = [`a: ${1 as number} as string`, /x as y: z/.source, "let a: number = ' +
      '<T>b!", { as: 1 }.as]'
  },
  'carriage returns and types': {
    'a.ts': 'interface A {\r\n  b: 1\r\n}\r\nexport const a: number = 1\r\nexport const c: A | number ' +
      '=\r\n  2\r\n'
  },
  'letters beyond ASCII in types': {
    'a.ts': 'type Größe = "ü" | "😀"\nexport const a: Größe = "😀", b /* 😀 */ : Größe = "ü"'
  },
  'a byte order mark and types': { 'a.ts': '\uFEFFexport const a: number = 1' },
  'hoisting and cycles': {
    'a.ts': 'import { b } from "./b.ts"\nexport function a (): string { return "a" }\nexport const got: ' +
      'string = b',
    'b.ts': 'import { a } from "./a.ts"\nexport const b: string = a()'
  },
  'a live binding': {
    'a.ts': 'import { count, grow } from "./b.ts"\ngrow()\nexport const seen: number = count',
    'b.ts': 'export let count: number = 0\nexport function grow (): void { count++ }'
  },
  'an await at the top of a file with an enum': {
    'a.ts': 'enum A { X = 1 }\nexport const a = await Promise.resolve(A.X)\nfor await (const x of [A.X]) ' +
      'log(String(x))'
  },
  'a default export of each kind, beside an enum': {
    'a.ts': 'import b from "./b.ts"\nimport c from "./c.ts"\nimport d from "./d.ts"\nimport e from ' +
      '"./e.ts"\nexport const names = [b.name, c.name, d.name, e]',
    'b.ts': 'enum A {}\nexport default () => A',
    'c.ts': 'enum A {}\nexport default class {}\nlog(String(A))',
    'd.ts': 'enum A {}\nexport default function () { return A }',
    'e.ts': 'enum A { X = 4 }\nexport default A.X'
  },
  'names of functions beside an enum': {
    'a.ts': 'enum E { X }\nconst arrow = () => E.X, Klass = class { static x = 1 }\nfunction declared () { ' +
      'function inner () {} return inner.name }\nexport const all = [arrow.name, Klass.name, ' +
        'declared.name, declared(), (() => {}).name, { m () {} }.m.name, class { static #p () {} static n ' +
          '= this.#p.name }.n]'
  },
  'a decorator of a class': {
    'a.ts': 'function d (value: any, context: any) { log(context.kind + " " + context.name + " " + ' +
      'value.name); return class extends value { extra = 1 } }\n@d class A { a = 1; static self = A ' +
        '}\nexport const a = { ...new A() }\nexport const { name } = A'
  },
  'decorators of members': {
    'a.ts': `const d = (text: string) => { log("make " + text); return (value: any, context: any) => { log([text, context.kind, String(context.name), context.static, context.private, typeof value].join()) } }
      class A { @d("m") m () {} @d("s") static s () {} @d("g") get g () { return 1 } @d("set") set g (v) {} @d("f") f = 1; @d("a") accessor a = 2; @d("p") #p = 3; @d("c") ["comp" + "uted"] = 4; p () { return this.#p } }
      export const a = new A()
      export const all = [a.f, a.a, a.p(), Object.keys(a)]`
  },
  'decorators that replace': {
    'a.ts': `const twice = (value: any) => function (this: any) { return value.call(this) * 2 }
      const plus = () => (value: number) => value + 1
      const bound = (value: any, { name, addInitializer }: any) => { addInitializer(function (this: any) { this[name] = this[name].bind(this) }) }
      class A { @plus f = 1; @twice m () { return this.f } @bound b () { return this.f } }
      const a = new A(), { b } = a
      export const all = [a.f, a.m(), b()]`
  },
  'a decorated default export': {
    'a.ts': 'const d = (value: any, { name }: any) => { log(String(name)) }\nexport default @d class A { ' +
      'static x = 1 }'
  },
  'a decorated export': {
    'a.ts': 'const d = (value: any, { name }: any) => { log(String(name)) }\n@d export class A {}\nexport ' +
      '@d class B {}'
  },
  'imported decorators': {
    'a.ts': 'import { d } from "./b.ts"\nimport * as ns from "./b.ts"\nexport class A { @d m () {} @ns.d n ' +
      '() {} }',
    'b.ts': 'export function d (this: any, value: any, { name }: any) { log(String(name)) }'
  },
  'an accessor': {
    'a.ts': 'class A { accessor a = 1; static accessor b: number = 2 }\nexport const all = [new A().a, ' +
      'A.b, Object.keys(new A()), typeof Object.getOwnPropertyDescriptor(A.prototype, "a")?.get]'
  },
  using: {
    'a.ts': 'const open = (name: string) => ({ name, [Symbol.dispose ?? Symbol.for("Symbol.dispose")] () { ' +
      'log("close " + name) } })\nfunction f () { using a = open("a"), b = open("b"); log("in f"); return ' +
        'a.name + b.name }\nexport const got = f()\n{ using c = open("c"); log("in block") }\nfor (using d ' +
          'of [open("d1"), open("d2")]) log("in loop " + d.name)'
  },
  'using at the top': {
    'a.ts': 'import { open } from "./b.ts"\nusing a = open("a")\nexport const b = a.name\nexport function ' +
      'f () { return b }\nlog("end")',
    'b.ts': 'export const open = (name: string) => ({ name, [Symbol.dispose ?? ' +
      'Symbol.for("Symbol.dispose")] () { log("close " + name) } })'
  },
  'await using': {
    'a.ts': 'const open = (name: string) => ({ name, async [Symbol.asyncDispose ?? ' +
      'Symbol.for("Symbol.asyncDispose")] () { await null; log("close " + name) } })\nasync function f () ' +
        '{ await using a = open("a"); log("in f"); return a.name }\nexport const got = await f()\nawait ' +
          'using b = open("b")\nlog("end")'
  },
  'using when something throws': {
    'a.ts': 'const open = (name: string) => ({ [Symbol.dispose ?? Symbol.for("Symbol.dispose")] () { throw ' +
      'new Error("close " + name) } })\nlet failure: any\ntry { using a = open("a"); throw new ' +
        'Error("body") } catch (error) { failure = error }\nexport const all = [failure.constructor.name, ' +
          'failure.error.message, failure.suppressed.message]'
  },
  elements: {
    'a.tsx': 'const Hello = ({ name, children }: { name: string, children?: any }) => [name, ' +
      'children]\nexport const a = <div id="x" {...{ y: 1 }}>text {1 + 1}<Hello ' +
        'name="n">in</Hello><></></div>\nexport const generic = <T,>(x: T) => x',
    ...REACT
  },
  'elements of imported names': {
    'a.tsx': 'import { Hello } from "./b.tsx"\nimport * as ns from "./b.tsx"\nexport const a = <><Hello ' +
      'name="1" /><ns.Hello name="2" key="k" /></>',
    'b.tsx': 'export const Hello = ({ name }: { name: string }) => `hello ${name}`',
    ...REACT
  },
  'elements with a library named in a comment': {
    'a.tsx': '/** @jsxImportSource my-jsx */\nexport const a = <p>x</p>',
    'node_modules/my-jsx/package.json': '{ "name": "my-jsx", "type": "module", "exports": { ' +
      '"./jsx-runtime": "./jsx.js" } }',
    'node_modules/my-jsx/jsx.js': 'export const jsx = (type, props) => ["mine", type, props]'
  },
  'elements with a function named in a comment': {
    'a.tsx': '/** @jsxRuntime classic */\n/** @jsx h */\nimport { h } from "./h.ts"\nexport const a = <p ' +
      'class="c">{1}</p>',
    'h.ts': 'export const h = (...args: any[]) => args'
  },
  'a missing name that may be a type': {
    'a.ts': 'import { T } from "./b.ts"\nexport { T }', 'b.ts': 'export type T = 1'
  },
  'a value that is not there': {
    'a.ts': 'import { nope } from "./b.ts"\nnope()', 'b.ts': 'export const a = 1'
  },
  'JSON beside types': {
    'a.ts': 'import data from "./b.json" with { type: "json" }\nexport const a: number = data.n',
    'b.json': '{ "n": 1 }'
  }
}
