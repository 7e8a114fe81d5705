// Makes catalogs from numbers: a good one, in which one file or two have something wrong.

import { stringify } from 'yaml'
import type { Files } from '../helpers/catalog-folder.ts'
import { mutateJson, mutateText } from './mutations.ts'
import { Random, type Json } from './random.ts'

/** A file that is written from a value. */
interface Part {
  readonly path: string
  readonly value: Json
  write (value: Json, random: Random): string
}

const yaml = (value: Json, random: Random) => random.chance(0.7) ? stringify(value) : JSON.stringify(value)
const matter = (body: string) => (value: Json, random: Random) => `---\n${yaml(value, random)}\n---\n${body}`
const toModule = (define: string, functions: string) => (value: Json) =>
  `import { ${define} } from 'trivet'\nexport default ${define}({ ...${JSON.stringify(value)}, ${functions} })\n`

const SCHEMA: Json = {
  type: 'object',
  properties: {
    a: { type: 'string', pattern: '^(a+)+$', format: 'date', minLength: 1 },
    b: { anyOf: [{ type: 'integer', minimum: 1 }, { $ref: '#/$defs/c' }] },
    d: { type: 'array', items: { type: 'number', multipleOf: 0.1 }, uniqueItems: true, prefixItems: [{}] },
    e: { enum: [1, null, 'x', { y: 1 }] }
  },
  required: ['a'],
  patternProperties: { '^x-': { const: 1 } },
  dependentRequired: { a: ['b'] },
  if: { required: ['b'] },
  then: { properties: { d: {} } },
  $defs: { c: { type: 'object', properties: { again: { $ref: '#/$defs/c' } }, unevaluatedProperties: false } }
}

const PARTS: readonly Part[] = [
  {
    path: 'server.yaml',
    value: {
      name: 'shop',
      title: 'Shop',
      version: '1',
      websiteUrl: 'https://a.example',
      icons: [{ src: 'https://a.example/i.png', sizes: ['48x48'], theme: 'dark' }],
      cache: { listTtlMs: 5, cacheScope: 'public' },
      pageSize: 2,
      limits: { calls: '10/1m', running: 2 },
      guard: 'warn',
      watchIgnore: ['**/*.tmp', '{a,b}/[c-d]'],
      scopes: [{ name: 'a:b', description: 'A.', includes: ['a:c'] }, { name: 'a:c', description: 'C.' }]
    },
    write: yaml
  },
  {
    path: 'tools/t.ts',
    value: {
      name: 't',
      title: 'T',
      description: 'A tool.',
      inputSchema: SCHEMA,
      outputSchema: SCHEMA,
      annotations: { readOnlyHint: true, idempotentHint: true },
      scopes: ['a:c'],
      whenMissing: 'challenge',
      limits: { calls: '1/1s', resultBytes: 5 },
      requiredCapabilities: { sampling: {} },
      task: 'allowed',
      ttlMs: 2000,
      ui: 'panel',
      visibility: ['model'],
      icons: [{ src: 'data:image/png;base64,AAAA' }],
      _meta: { 'a.b/c': 1 }
    },
    write: toModule('defineTool', 'run: (args) => args')
  },
  {
    path: 'prompts/p.md',
    value: {
      title: 'P',
      description: 'A prompt.',
      arguments: [{ name: 'who', required: true, complete: ['x', 'y'] }, { name: 'tone', description: 'T.' }],
      scopes: ['a:b'],
      order: 1
    },
    write: matter('Hello {{who}} {{tone}}\n<!-- assistant -->\n{{ who }} {{{who}}} {{\n<!-- user -->\n')
  },
  {
    path: 'prompts/q.ts',
    value: { name: 'q', description: 'Q.', arguments: [{ name: 'x', required: true, complete: ['a'] }] },
    write: toModule('definePrompt', "render: () => 'x'")
  },
  {
    path: 'resources/r.resource.ts',
    value: {
      uriTemplate: 'shop://orders{/path*}{?status,page}{#x:3}',
      name: 'r',
      mimeType: 'text/plain',
      cache: { ttlMs: 1, cacheScope: 'private' },
      annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01' },
      complete: { status: ['open'] }
    },
    write: toModule('defineResourceTemplate', "read: () => 'x'")
  },
  {
    path: 'resources/s.resource.ts',
    value: { uri: 'shop://s', name: 's', title: 'S', size: 5 },
    write: toModule('defineResource', "read: () => 'x'")
  },
  {
    path: 'resources/a.txt.meta.yaml',
    value: { title: 'A', mimeType: 'text/plain', scopes: ['a:b'], annotations: { priority: 1 } },
    write: yaml
  },
  { path: 'resources/folder.meta.yaml', value: { scopes: ['a:b'], cache: { ttlMs: 5 } }, write: yaml },
  {
    path: 'skills/write/SKILL.md',
    value: { name: 'write', description: 'Writes.', license: 'MIT', metadata: { version: '1' } },
    write: matter('Write.\n')
  },
  {
    path: 'apps/panel/app.yaml',
    value: {
      title: 'Panel',
      csp: { connectDomains: ['https://a.example'], frameDomains: ['https://*.b.example'] },
      permissions: ['camera'],
      prefersBorder: true,
      domain: 'panel',
      cache: { ttlMs: 1 }
    },
    write: yaml
  }
]

const HEAD = '<!doctype html><title>P</title>'
const OTHERS: Files = {
  'resources/a.txt': 'a', 'skills/write/references/r.md': 'r', 'apps/panel/index.html': HEAD
}
const HTML = [
  '<script src="missing.js"></script>', '<script src="../../server.yaml"></script>', '<script>a(</script>',
  '<link rel="stylesheet" href="a.css">', '<img src="https://x.example/a.png">', '<!doctype', '<svg><script>a',
  '<style>@import "a.css"</style>', '<template><p>', '\u0000', '<base href="//x">', '<script type="module">'
]
const BROKEN_YAML = [
  '\t- a', '&a [*a, *a]', 'a: &x [1]\nb: *y', '!!js/function "x"', '<<: 1', '{', '? a\n? b', 'a: b: c',
  '\ufeff', '- 1\nb: 2', '---\n---\n', '%YAML 9.9\n---\n', '"\\x"', '!!binary "x"', 'a: 2026-01-01\na: 1',
  '.nan', '0x', '~: 1', '[[[[[[[[[[[[', '*x', 'a: |\n b\nc', '!<tag:x> y', '__proto__: {a: 1}',
  'constructor: 1', '? {a: 1}\n: 2',
  `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.split('').map(
    (key, index) => `${key}: &${key} [${`*${'abcdefg'[index]},`.repeat(9)}]`
  ).join('\n')}`
]
const BROKEN_MODULES = [
  'export default 1', 'export default', 'throw new Error("x")', 'throw null', 'throw { message: 1 }',
  'import "./no.ts"', 'export { x } from "./t.ts"', 'export default { then: 1 }', 'export const a: = 1',
  'import "no-such-package"', '\u0000', 'enum', 'throw Object.create(null)', '@x class {}', 'throw undefined',
  'export default new Proxy({}, { get () { throw new Error("x") } })', 'export * from "trivet"',
  'export default (await import("trivet")).defineTool(null)',
  'export default (await import("trivet")).defineTool({ get name () { throw 1 } })',
  'const a = {}; a.a = a; export default (await import("trivet")).defineTool({ name: "c", ' +
    'description: "C.", inputSchema: a, run () {} })'
]
interface MadeCatalog {
  readonly files: Files
  /** The files that may have something wrong. */
  readonly changed: readonly string[]
}

/** @param index -1 for the good catalog. */
export function makeCatalog (seed: number, index: number): MadeCatalog {
  const random = Random.of(seed, index)
  const changed = new Set<string>()
  if (index >= 0) for (let count = random.below(2); count >= 0; count--) changed.add(random.pick(PARTS).path)
  const files: { [path: string]: string | Uint8Array } = { ...OTHERS }
  for (const { path, value, write } of PARTS) {
    files[path] = changed.has(path) ? spoil(path, write, value, random) : write(value, Random.of(0, 0))
  }
  if (index >= 0 && random.chance(0.1)) {
    files['apps/panel/index.html'] = `${HEAD}${random.pick(HTML)}${random.pick(HTML)}`
    changed.add('apps/panel/index.html')
  }
  return { files, changed: [...changed] }
}

function spoil (path: string, write: Part['write'], value: Json, random: Random): string | Uint8Array {
  if (random.chance(0.15)) return random.pick(path.endsWith('.ts') ? BROKEN_MODULES : BROKEN_YAML)
  let next = value
  for (let count = random.below(2); count >= 0; count--) next = mutateJson(next, random)
  const text = write(next, random)
  if (random.chance(0.8)) return text
  if (path.endsWith('.md') && random.chance(0.5)) return `---\n${random.pick(BROKEN_YAML)}\n---\n`
  return mutateText(text, random)
}
