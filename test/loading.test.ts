// A service loads only the packages of the parts that it uses.

import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import t, { type Test } from 'tap'
import { NODE_OPTIONS, readLoadedFiles, readLoadedPackages } from '../bench/loaded-packages.mjs'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { findFreePort } from './helpers/free-port.ts'
import { startService } from './helpers/service.ts'
import { post } from './helpers/stream.ts'

/** Whether a package is loaded only where a part needs it. */
const UNUSED = /^(?:ioredis|lmdb|pg|esbuild|typebox|prom-client|@opentelemetry\/.*|@swc\/wasm-typescript)$/

/**
 * The packages that each service has loaded after its first answer. Each is text to parse before the service
 * listens: a package that only some services need is imported where they need it.
 */
const ALWAYS = [
  '@fastify/ajv-compiler', '@fastify/cors', '@fastify/error', '@fastify/fast-json-stringify-compiler',
  '@fastify/forwarded', '@fastify/merge-json-schemas', '@fastify/proxy-addr', '@pinojs/redact',
  'acorn', 'ajv', 'ajv-formats', 'atomic-sleep', 'avvio', 'chokidar', 'cjs-module-lexer',
  'close-with-grace', 'dequal', 'eslint-scope', 'esrecurse', 'estraverse',
  'fast-decode-uri-component', 'fast-deep-equal', 'fast-json-stringify', 'fast-querystring', 'fast-uri',
  'fastify', 'fastify-plugin', 'fastq', 'find-my-way', 'fuzzysort', 'import-meta-resolve', 'ipaddr.js',
  'json-schema-ref-resolver', 'json-schema-traverse', 'lru-cache', 'mime',
  'oauth4webapi', 'on-exit-leak-free', 'pino', 'pino-std-serializers', 'process-warning',
  'quick-format-unescaped', 're2js', 'readdirp', 'ret', 'reusify', 'rfdc', 'safe-regex2',
  'safe-stable-stringify', 'secure-json-parse', 'semver', 'sonic-boom', 'thread-stream',
  'toad-cache', 'url-template', 'yaml'
]

/** All packages that a service has loaded after its first answer. */
async function findLoaded (
  t: Test, settings: { readonly [variable: string]: string } = {}, file = 'tools/hello.js'
): Promise<ReadonlySet<string>> {
  // With a type in TypeScript: a text without types is JavaScript.
  const text = toolModule('hello') + (file.endsWith('.ts') ? '\nexport const one: number = 1\n' : '')
  const { url, stderr, stop } = await startService(t, {
    NODE_OPTIONS, TRIVET_CATALOG: await writeCatalog(t, { [file]: text }), ...settings
  })
  await post(t, url, { method: 'tools/call', params: { name: 'hello', arguments: {} } })
  await stop()
  const loaded = await readLoadedPackages(stderr())
  t.ok(loaded.has('fastify'), 'what is loaded is seen')
  return loaded
}

/** The packages of parts. */
async function findParts (...options: Parameters<typeof findLoaded>): Promise<string[]> {
  return [...await findLoaded(...options)].filter((name) => UNUSED.test(name)).toSorted()
}

t.test('a service of JavaScript tools with state in memory loads these packages and no others', async (t) => {
  const loaded = [...await findLoaded(t)].filter((name) => name !== 'node' && !isBuiltin(name))
  t.strictSame(loaded.toSorted(), ALWAYS)
})

t.test('JavaScript tools with state in memory need none of them', async (t) => {
  t.strictSame(await findParts(t), [])
})

t.test('TypeScript loads what reads it', async (t) => {
  t.strictSame(await findParts(t, {}, 'tools/hello.ts'), ['@swc/wasm-typescript'])
})

t.test('an admin address loads what measures', async (t) => {
  t.ok((await findParts(t, { TRIVET_ADMIN_PORT: '0' })).includes('prom-client'))
})

t.test('a collector loads what traces', async (t) => {
  const parts = await findParts(t, { TRIVET_OTLP_URL: 'http://127.0.0.1:9' })
  t.ok(parts.includes('@opentelemetry/exporter-trace-otlp-proto'))
})

/** What the sign-in has: its rooms, and the packages that only it needs. */
const SIGN_IN = /src\/(features|edges)\/sign-in\/|node_modules\/(oidc-provider|openid-client)\//
const DESK = /src\/edges\/desk\//

async function findFiles (t: Test, args: readonly string[], settings = {}): Promise<readonly string[]> {
  const catalog = await writeCatalog(t, { 'tools/hello.js': toolModule('hello') })
  const environment = { NODE_OPTIONS, TRIVET_CATALOG: catalog, ...settings }
  const { url, stderr, stop } = await startService(t, environment, { args })
  await fetch(url, { method: 'POST', body: '{}' })
  await stop()
  return [...await readLoadedFiles(stderr())]
}

t.test('without the sign-in a service loads nothing of it, and nothing of the desk', async (t) => {
  const files = await findFiles(t, [])
  t.strictSame(files.filter((file) => SIGN_IN.test(file) || DESK.test(file)), [])
})

t.test('without the sign-in dev loads the desk, and nothing of the sign-in', async (t) => {
  const files = await findFiles(t, ['dev'])
  t.strictSame(files.filter((file) => SIGN_IN.test(file)), [])
  t.ok(files.some((file) => DESK.test(file)), 'its author may pick a caller at any time')
})

t.test('with the sign-in its rooms and its engine are loaded', async (t) => {
  const files = await findFiles(t, ['dev'], { TRIVET_AUTH: 'sign-in', PORT: String(await findFreePort()) })
  for (const part of ['src/features/sign-in/', 'src/edges/sign-in/', 'node_modules/oidc-provider/']) {
    t.ok(files.some((file) => file.includes(part)), part)
  }
})

t.test('every production dependency is known to the table of costs', async (t) => {
  const { dependencies } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const page = await readFile(new URL('../docs/operating/packages.md', import.meta.url), 'utf8')
  const [, table = ''] = /\n\| Package \| MB (.*(?:\n\|.*)*)/.exec(page) ?? []
  const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
  t.strictSame(named.toSorted(), Object.keys(dependencies).toSorted())
})
