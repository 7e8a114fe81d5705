// A service loads only the packages of the parts that it uses.

import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { NODE_OPTIONS, readLoadedPackages } from '../bench/loaded-packages.mjs'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { startService } from './helpers/service.ts'
import { post } from './helpers/stream.ts'

/** Whether a package is loaded only where a part needs it. */
const UNUSED = /^(?:ioredis|lmdb|pg|esbuild|typebox|prom-client|@opentelemetry\/.*|@swc\/wasm-typescript)$/

/** The packages of parts that a service has loaded after its first answer. */
async function findParts (
  t: Test, settings: { readonly [variable: string]: string } = {}, file = 'tools/hello.js'
): Promise<string[]> {
  const { url, stderr, stop } = await startService(t, {
    NODE_OPTIONS, TRIVET_CATALOG: await writeCatalog(t, { [file]: toolModule('hello') }), ...settings
  })
  await post(t, url, { method: 'tools/call', params: { name: 'hello', arguments: {} } })
  await stop()
  const loaded = await readLoadedPackages(stderr())
  t.ok(loaded.has('fastify'), 'what the build has bundled is seen')
  return [...loaded].filter((name) => UNUSED.test(name)).toSorted()
}

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

t.test('every production dependency is known to the table of costs', async (t) => {
  const { dependencies } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const page = await readFile(new URL('../docs/operating.md', import.meta.url), 'utf8')
  const [, table = ''] = /\n\| Package \| MB (.*(?:\n\|.*)*)/.exec(page) ?? []
  const named = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
  t.strictSame(named.toSorted(), Object.keys(dependencies).toSorted())
})
