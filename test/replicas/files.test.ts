// Large files between two processes with one Redis and one folder.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { linkIn, FILES, pageIn, toForm } from '../features/files/file-tools.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasNginx, startNginx } from '../servers/nginx.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { hasS3Server, startS3Server } from '../servers/s3-server.ts'
import { startService, type Service } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

const MIB = 1_048_576
const LARGE_BYTES = 100 * MIB
const MAX_GROWTH_BYTES = 50 * MIB
const CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } } }

async function startTwo (t: Test, environment: { readonly [name: string]: string }) {
  const redis = await startRedisServer(t)
  const catalog = await writeCatalog(t, FILES)
  const start = async () => await startService(t, {
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that all replicas here have',
    TRIVET_CATALOG: catalog,
    TRIVET_PUBLIC_URL: 'http://localhost:9/mcp',
    TRIVET_LOG_LEVEL: 'info',
    ...environment
  })
  return [await start(), await start()] as const
}

type Located = Pick<Service, 'url'>

async function call (t: Test, { url }: Located, name: string, args: object, more = {}): Promise<Message> {
  const { response } = await post(t, url, {
    method: 'tools/call', params: { name, arguments: args, ...more }, meta: CAPABILITIES
  })
  return response.result ?? response
}

/** The link at this replica, and not through the public URL. */
const at = ({ url }: Located, link: string) => new URL(new URL(link).pathname, url).href

async function hashOf (url: string): Promise<{ readonly hash: string, readonly size: number }> {
  const digest = createHash('sha256')
  let size = 0
  for await (const chunk of (await fetch(url)).body ?? []) {
    digest.update(chunk)
    size += chunk.length
  }
  return { hash: digest.digest('hex'), size }
}

/** Sends a form with a file of this size, and resolves to the status. */
async function upload (url: string, bytes: number): Promise<number | undefined> {
  const { headers, payload } = await toForm('large.bin', '|', 'application/octet-stream')
  const middle = payload.indexOf('|')
  const sending = request(url, { method: 'POST', headers })
  const answered = once(sending, 'response')
  sending.write(payload.subarray(0, middle))
  const chunk = Buffer.alloc(MIB, 'u')
  for (let sent = 0; sent < bytes; sent += MIB) {
    if (!sending.write(chunk)) await once(sending, 'drain')
  }
  sending.end(payload.subarray(middle + 1))
  const [answer] = await answered
  answer.resume()
  return answer.statusCode
}

async function rssOf ({ child }: Service): Promise<number> {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** Runs the work, and resolves to the largest growth of the memory of each service meanwhile. */
async function growthDuring (services: readonly Service[], work: () => Promise<void>): Promise<number[]> {
  const before = await Promise.all(services.map(rssOf))
  const most = [...before]
  const done = new AbortController()
  const watching = (async () => {
    while (!done.signal.aborted) {
      for (const [index, now] of (await Promise.all(services.map(rssOf))).entries()) {
        most[index] = Math.max(most[index] ?? 0, now)
      }
      await pause(20)
    }
  })()
  await work()
  done.abort()
  await watching
  return most.map((bytes, index) => bytes - (before[index] ?? 0))
}

/** A file of the whole way: through both replicas, in both directions. */
async function exchange (
  t: Test, [first, second]: readonly [Located, Located], bytes: number
): Promise<void> {
  const put = await call(t, first, 'put', { bytes, name: 'large.bin' })
  const { size } = await hashOf(at(second, linkIn(put)))
  t.equal(size, bytes, 'what one replica keeps, the other sends')
  const asked = await call(t, first, 'take', {})
  t.equal(await upload(at(second, pageIn(asked)), bytes), 200, 'the page is posted to the other replica')
  const { requestState } = asked
  const taken = await call(t, first, 'take', {}, {
    requestState, inputResponses: { upload: { action: 'accept' } }
  })
  t.match(taken.structuredContent, { size: bytes, bytes, head: 'u'.repeat(20) })
}

const STORAGES = {
  async folder (t: Test) { return { TRIVET_FILES_URL: `file:${await makeFolder(t)}` } },
  async bucket (t: Test) {
    const { environment, createBucket } = await startS3Server(t)
    return { TRIVET_FILES_URL: (await createBucket()).url, ...environment }
  }
}

for (const [name, start] of Object.entries(STORAGES)) {
  t.test(`100 MiB through any replica and a ${name} cost each less than 50 MiB of memory`, async (t) => {
    if (!hasRedisServer(t) || (name === 'bucket' && !hasS3Server(t))) return
    const services = await startTwo(t, await start(t))
    // Everything is loaded, and the heap has its usual size.
    for (let rounds = 0; rounds < 3; rounds++) await exchange(t, services, 8 * MIB)
    const grown = await growthDuring(services, async () => await exchange(t, services, LARGE_BYTES))
    t.comment(`grown by ${grown.map((bytes) => `${(bytes / MIB).toFixed(1)} MiB`).join(' and ')}`)
    for (const bytes of grown) t.ok(bytes < MAX_GROWTH_BYTES, `${(bytes / MIB).toFixed(1)} MiB`)
  })
}

t.test('nginx of docker-compose.yml passes on files that are larger than other requests', async (t) => {
  if (!hasRedisServer(t) || !hasNginx(t)) return
  const [first, second] = await startTwo(t, await STORAGES.folder(t))
  const ports = [first, second, first].map(({ url }) => Number(new URL(url).port))
  const proxy = { url: `${await startNginx(t, ports)}/mcp` }
  await exchange(t, [proxy, proxy], 8 * MIB)
})

t.test('a shared folder is said at the start', async (t) => {
  if (!hasRedisServer(t)) return
  const [first] = await startTwo(t, await STORAGES.folder(t))
  t.equal(first.stdout().split('files are in a folder: all replicas must share it').length, 2)
})

t.test('embedded state keeps files beside it, and links outlive a restart', async (t) => {
  const folder = await makeFolder(t)
  const environment = {
    TRIVET_STATE_URL: `file:${folder}`, TRIVET_CATALOG: await writeCatalog(t, FILES)
  }
  const before = await startService(t, environment)
  const link = linkIn(await call(t, before, 'put', { text: 'kept', name: 'a.txt' }))
  t.ok(link.startsWith(`${before.url}/files/`), 'on a loopback address the service knows its own URL')
  t.equal((await readdir(`${folder}/files`)).length, 1)
  t.equal(await before.stop(), 0)
  const after = await startService(t, environment)
  t.equal(await (await fetch(at(after, link))).text(), 'kept')
})

t.test('a download that runs may finish during a shutdown, one that nobody reads is cut', async (t) => {
  const environment = { TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_SHUTDOWN_TIMEOUT_MS: '3000' }
  for (const reads of [true, false]) {
    const service = await startService(t, environment)
    const link = linkIn(await call(t, service, 'put', { bytes: 40 * MIB, name: 'a.bin' }))
    const getting = request(link).end()
    getting.on('error', () => {})
    const [answer] = await once(getting, 'response')
    await pause(200)
    const stopping = service.stop()
    await pause(1500)
    let size = 0
    if (reads) for await (const chunk of answer) size += chunk.length
    t.equal(await stopping, 0)
    if (reads) t.equal(size, 40 * MIB)
    answer.on('error', () => {})
  }
})

t.test('a caller has a bounded number of downloads', async (t) => {
  const environment = { TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_MAX_STREAMS: '2' }
  const service = await startService(t, environment)
  const link = linkIn(await call(t, service, 'put', { bytes: 40 * MIB, name: 'a.bin' }))
  const open = await Promise.all([1, 2].map(async () => {
    const getting = request(link).end()
    getting.on('error', () => {})
    const [answer] = await once(getting, 'response')
    answer.on('error', () => {})
    return { getting, answer }
  }))
  const refused = await fetch(link)
  t.equal(refused.status, 503)
  t.ok(refused.headers.has('retry-after'))
  await refused.text()
  for (const { getting } of open) getting.destroy()
  await pause(200)
  const served = await fetch(link)
  t.equal(served.status, 200)
  await served.arrayBuffer()
})
