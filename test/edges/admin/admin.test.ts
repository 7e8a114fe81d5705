// The admin address of the built service: what it serves, to whom, and until when.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { adminOriginOf, linesOf } from '../../helpers/admin.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { runService, startService, type Service } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'

const FILES: Files = { 'tools/a.ts': toolModule('a'), 'prompts/p.md': 'Say it.\n' }

async function startWithAdmin (
  t: Test, environment: { readonly [variable: string]: string } = {}
): Promise<{ readonly service: Service, readonly admin: string, readonly catalog: string }> {
  const catalog = await writeCatalog(t, FILES)
  const service = await startService(t, { TRIVET_CATALOG: catalog, TRIVET_ADMIN_PORT: '0', ...environment })
  return { service, admin: await adminOriginOf(service), catalog }
}

async function get (url: string, headers: { readonly [name: string]: string } = {}) {
  const response = await fetch(url, { headers })
  return { status: response.status, body: await response.text() }
}

/** `fetch` cannot set the header Host. */
async function statusOf (origin: string, host: string, path = '/metrics'): Promise<number> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.end(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  const [chunk]: Buffer[] = await within(once(socket, 'data'), 'the answer')
  socket.destroy()
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1])
}

// The tests share one service, because starting it takes a second.
const { service, admin, catalog } = await startWithAdmin(t)
const origin = new URL(service.url).origin

t.test('has health and metrics, and the public address has no metrics', async (t) => {
  t.strictSame(await get(`${admin}/livez`), { status: 200, body: '{"status":"ok"}' })
  const { status, body } = await get(`${admin}/readyz`)
  t.equal(status, 200)
  t.match(JSON.parse(body), {
    ready: true,
    parts: [{ name: 'state store', ready: true }, { name: 'catalog', ready: true, version: /^[0-9a-f]{12}$/ }]
  })
  t.match(await get(`${admin}/metrics`), { status: 200, body: /^trivet_build_info\{.*\} 1$/m })
  t.equal((await get(`${admin}/mcp`)).status, 404)
  t.equal((await fetch(`${admin}/mcp`, { method: 'POST' })).status, 404)
  t.equal((await get(`${origin}/metrics`)).status, 404)
  t.strictSame(await get(`${origin}/readyz`), { status: 200, body: '{"status":"ok"}' })
})

t.test('measures the service', async (t) => {
  await post(t, service.url, { method: 'tools/call', params: { name: 'a' } })
  const { body } = await get(`${admin}/metrics`)
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  const { parts } = JSON.parse((await get(`${admin}/readyz`)).body)
  const catalog = parts.find(({ name }: { name: string }) => name === 'catalog')
  t.strictSame(linesOf(body, 'trivet_build_info'), [
    `trivet_build_info{version="${version}",node="${process.versions.node}",` +
      `catalog_version="${catalog.version}"} 1`
  ])
  t.match(linesOf(body, 'mcp_server_operation_duration_seconds_count'), [/gen_ai_tool_name="a"\} 1$/])
  t.strictSame(linesOf(body, 'trivet_catalog_primitives'), [
    'trivet_catalog_primitives{kind="tool"} 1', 'trivet_catalog_primitives{kind="prompt"} 1',
    'trivet_catalog_primitives{kind="resource"} 0', 'trivet_catalog_primitives{kind="resource_template"} 0',
    'trivet_catalog_primitives{kind="skill"} 0'
  ])
  t.strictSame(linesOf(body, 'trivet_state_store_ready'), ['trivet_state_store_ready 1'])
  t.strictSame(linesOf(body, 'trivet_broadcast_ready'), ['trivet_broadcast_ready 1'])
  t.match(body, /^nodejs_eventloop_lag_p99_seconds /m)
})

t.test('answers only to names of this machine on loopback, and elsewhere to all names', async (t) => {
  t.equal(await statusOf(admin, 'localhost'), 200)
  t.equal(await statusOf(admin, 'rebound.example'), 403)
  t.equal((await get(`${admin}/metrics`, { origin: 'https://evil.example' })).status, 403)
  // Prometheus in another container reaches an address of the network, and asks for the container's name.
  const exposed = await startWithAdmin(t, { TRIVET_ADMIN_HOST: '0.0.0.0' })
  t.equal(await statusOf(exposed.admin.replace('0.0.0.0', '127.0.0.1'), 'trivet-1:9464'), 200)
})

t.test('says why the last reload failed, and counts reloads', async (t) => {
  const version = async () => JSON.parse((await get(`${admin}/readyz`)).body).parts.at(-1).version
  const before = await version()
  await writeInPlace(catalog, 'tools/b.ts', 'export default 1\n')
  await until(async () => (await get(`${admin}/readyz`)).body.includes('failedAt'), 'the failed reload', 30_000)
  const { status, body } = await get(`${admin}/readyz`)
  t.equal(status, 200, 'the catalog before it is served')
  t.match(JSON.parse(body).parts.at(-1), {
    name: 'catalog',
    ready: true,
    version: before,
    lastReload: { failedAt: /^\d{4}-.*Z$/, file: 'tools/b.ts', rule: /^exports nothing made by defineTool/ }
  })
  const failed = (await get(`${admin}/metrics`)).body
  t.match(failed, /^trivet_catalog_reloads_total\{result="failure"\} [1-9]/m)
  t.match(failed, /^trivet_catalog_last_reload_successful 0$/m)
  await writeInPlace(catalog, 'tools/b.ts', toolModule('b'))
  await until(async () => await version() !== before, 'the next reload', 30_000)
  const mended = await get(`${admin}/metrics`)
  t.match(mended.body, /^trivet_catalog_last_reload_successful 1$/m)
  t.match(mended.body, /^trivet_catalog_reloads_total\{result="success"\} [1-9]/m)
  t.notMatch((await get(`${admin}/readyz`)).body, 'failedAt')
})

t.test('has a page for people', async (t) => {
  const response = await fetch(`${admin}/`)
  t.equal(response.status, 200)
  t.match(response.headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-/)
  t.equal(response.headers.get('cache-control'), 'no-store')
  const body = await response.text()
  t.match(body, '<h1 class="good">Ready</h1>')
  t.match(body, '<meta http-equiv="refresh" content="10">')
  t.match(body, '<tr><th scope="row">a</th><td>1</td><td>0</td>', 'the calls of the tool')
  t.notMatch(body, /<script/)
  t.notMatch((await get(`${admin}/?refresh=off`)).body, 'http-equiv="refresh"')
  t.equal(await statusOf(admin, 'rebound.example', '/'), 403)
})

t.test('the page is shown without tasks to who has no token, and not to who has a wrong one', async (t) => {
  const guarded = await startWithAdmin(t, { TRIVET_ADMIN_TOKEN: 'a-token-of-an-operator-0123456789' })
  const visit = async (authorization?: string) =>
    await get(`${guarded.admin}/`, authorization === undefined ? {} : { authorization })
  const asked = 'Tasks are listed with TRIVET_ADMIN_TOKEN'
  t.match(await visit(), { status: 200, body: asked })
  const { status, body } = await visit('Bearer a-token-of-an-operator-0123456789')
  t.equal(status, 200)
  t.notMatch(body, asked)
  t.equal((await visit('Bearer wrong')).status, 401)
})

t.test('a port in use ends the start with a message', async (t) => {
  const { code, stdout, stderr } = await runService({
    TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_ADMIN_PORT: new URL(admin).port
  })
  t.equal(code, 1)
  t.match(stdout, /^[^\n]*"level":60[^\n]*\n$/, 'one record')
  t.match(
    stderr,
    /^Cannot listen on port \d+ of 127\.0\.0\.1: another process .*set TRIVET_ADMIN_PORT \(EADDRINUSE\)\n$/
  )
})

t.test('can be read during a shutdown, and does not delay its end', async (t) => {
  const other = await startWithAdmin(t, { TRIVET_DRAIN_MS: '500' })
  const { hostname, port } = new URL(other.admin)
  const stalled = connect(Number(port), hostname)
  t.teardown(() => stalled.destroy())
  stalled.on('error', () => {}).write('GET /metrics HTTP/1.1\r\n')
  await once(stalled, 'connect')
  const stopped = other.service.stop()
  await until(async () => (await get(`${other.admin}/readyz`)).status === 503, 'the shutdown')
  t.strictSame(JSON.parse((await get(`${other.admin}/readyz`)).body).parts[0], {
    name: 'process', ready: false, reason: 'shutting down'
  })
  t.equal((await get(`${other.admin}/metrics`)).status, 200)
  t.equal(await within(stopped, 'the exit', 10_000), 0)
})

t.test('a service without it, and without traces, does not load the libraries', async (t) => {
  const seen = new Set<string>()
  const visit = async (file: URL): Promise<string> => {
    if (seen.has(file.href)) return ''
    seen.add(file.href)
    const text = await readFile(file, 'utf8')
    const imports = [...text.matchAll(/(?:^|;)(?:import|export)[^'"()]*["'](\.[^"']+)["']/gm)]
    const texts = await Promise.all(imports.map(async ([, path = '']) => await visit(new URL(path, file))))
    return [text, ...texts].join('\n')
  }
  const main = new URL('../../../dist/main.js', import.meta.url)
  const all = await visit(main)
  const [, app = ''] = /import\("(\.\/chunks\/app-[A-Z0-9]+\.js)"\)/.exec(all) ?? []
  const loaded = all + await visit(new URL(app, main))
  t.ok(seen.size > 2)
  t.match(loaded, 'catalog reloaded', 'and the service is among the files')
  t.notMatch(loaded, 'process_cpu_user_seconds_total')
  t.notMatch(loaded, '@opentelemetry/')
})
