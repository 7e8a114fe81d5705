import { once } from 'node:events'
import { appendFile, readdir, truncate, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createService, type AppOptions } from '../../../src/app/app.ts'
import { replaceTime } from '../../../src/base/time.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { toPost } from '../../helpers/request.ts'
import { call, FILES, linkIn, NAMES, pageIn, toForm } from './file-tools.ts'

const PUBLIC = { publicUrl: 'https://mcp.example.com/shop', allowedHosts: ['mcp.example.com'] }

async function build (t: Test, options: AppOptions = {}) {
  const folder = await makeFolder(t)
  const app = await buildApp(t, FILES, { ...PUBLIC, filesUrl: `file:${folder}`, ...options })
  const get = async (link: string, headers = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const { pathname, host } = new URL(link)
    return await app.inject({ method, url: pathname, headers: { host, ...headers } })
  }
  return { app, folder, get }
}

t.test('put resolves to a resource_link with a URL below the public one', async (t) => {
  const { app, get } = await build(t)
  const { content: [link] } = await call(app, 'put', { text: 'a,b\n', name: 'orders.csv' })
  const { uri, ...facts } = link
  t.strictSame(facts, { type: 'resource_link', name: 'orders.csv', mimeType: 'text/csv', size: 4 })
  t.match(uri, /^https:\/\/mcp\.example\.com\/shop\/files\/[\w.-]+$/)
  const { statusCode, headers, body } = await get(uri)
  t.equal(statusCode, 200)
  t.equal(body, 'a,b\n')
  t.match(headers, {
    'content-type': 'text/csv',
    'content-length': '4',
    'content-disposition': 'attachment; filename="orders.csv"',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private',
    'content-security-policy': "sandbox; default-src 'none'",
    'accept-ranges': 'bytes',
    etag: /^"[\w-]+"$/
  })
})

t.test('requests for links count with the other requests of a caller', async (t) => {
  const { app } = await build(t, { constants: { requestsPerMinute: 2 } })
  const file = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }))
  const page = pageIn(await call(app, 'take'))
  const unknown = file.replace(/[^/]+$/, 'unknown')
  const { host } = new URL(file)
  const cases = [
    ['GET', file, 200], ['HEAD', file, 200], ['GET', page, 200], ['POST', page, 415], ['GET', unknown, 404]
  ] as const
  for (const [index, [method, link, status]] of cases.entries()) {
    const remoteAddress = `192.0.2.${index}`
    const visit = async () => await app.inject({
      method, url: new URL(link).pathname, headers: { host }, remoteAddress
    })
    t.equal((await visit()).statusCode, status, `${method} ${link}`)
    const list = toPost({ method: 'tools/list' })
    const headers = { ...list.headers, host }
    await app.inject({ method: 'POST', url: '/mcp', headers, payload: list.body, remoteAddress })
    const refused = await visit()
    t.equal(refused.statusCode, 429)
    const seconds = Number(refused.headers['retry-after'])
    t.ok(seconds > 50 && seconds <= 68, `${seconds}`)
    if (method === 'HEAD') continue
    const problem = 'The limit is reached: one caller may begin 2 requests in 1 minute.'
    t.equal(refused.json().error.message, `${problem} Try again in ${seconds} seconds.`)
  }
})

t.test('a file comes from a path, from bytes or a stream, and each browser reads its name', async (t) => {
  const { app, get, folder } = await build(t)
  const path = join(folder, 'plan.pdf')
  await writeFile(path, 'plan')
  const { content: [byPath] } = await call(app, 'put_path', { path })
  t.match(byPath, { name: 'plan.pdf', mimeType: 'application/pdf', size: 4 })
  t.equal((await get(byPath.uri)).body, 'plan')
  const { content: [byStream] } = await call(app, 'put', { bytes: 200_000, name: '../ü "é".bin' })
  t.match(byStream, { name: 'ü "é".bin', mimeType: 'application/octet-stream', size: 200_000 })
  const { headers, rawPayload } = await get(byStream.uri)
  t.equal(rawPayload.length, 200_000)
  t.equal(
    headers['content-disposition'],
    'attachment; filename="? \\"?\\".bin"; filename*=UTF-8\'\'%C3%BC%20%22%C3%A9%22.bin'
  )
})

t.test('HEAD, ETag and ranges are those of RFC 9110', async (t) => {
  const { app, get } = await build(t)
  const link = linkIn(await call(app, 'put', { text: '0123456789', name: 'a.txt' }))
  const head = await get(link, {}, 'HEAD')
  t.strictSame([head.statusCode, head.headers['content-length'], head.body], [200, '10', ''])
  const { etag } = head.headers
  const cases: ReadonlyArray<readonly [object, number, string, string?]> = [
    [{ range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10'],
    [{ range: 'bytes=7-' }, 206, '789', 'bytes 7-9/10'],
    [{ range: 'bytes=-3' }, 206, '789', 'bytes 7-9/10'],
    [{ range: 'bytes=8-99' }, 206, '89', 'bytes 8-9/10'],
    [{ range: 'bytes=0-1', 'if-range': etag }, 206, '01', 'bytes 0-1/10'],
    [{ range: 'bytes=0-1', 'if-range': '"other"' }, 200, '0123456789'],
    [{ range: 'bytes=0-1,4-5' }, 200, '0123456789'],
    [{ range: 'lines=1-2' }, 200, '0123456789'],
    [{ range: 'bytes=10-' }, 416, 'The file does not have this range.\n', 'bytes */10'],
    [{ 'if-none-match': etag }, 304, ''],
    [{ 'if-none-match': `"x", W/${String(etag)}` }, 304, ''],
    [{ 'if-none-match': '"x"' }, 200, '0123456789']
  ]
  for (const [headers, status, body, range] of cases) {
    const answer = await get(link, headers)
    const found = [answer.statusCode, answer.body, answer.headers['content-range']]
    t.strictSame(found, [status, body, range], JSON.stringify(headers))
  }
})

t.test('an expired, a foreign, a torn and an unknown link get the same 404', async (t) => {
  let now = Date.now()
  const catalog = await writeCatalog(t, FILES)
  const { app } = await createService(
    { catalog, ...QUIET, ...PUBLIC, authenticator: NAMES }, undefined, { clock: { now: () => now } }
  )
  t.teardown(async () => await app.close())
  const put = { text: 'secret', name: 'a.txt', ttlMs: 60_000 }
  const link = linkIn(await call(app, 'put', put, { as: 'ada' }))
  const get = async (link: string, headers = {}, method: 'GET' | 'POST' = 'GET') => {
    const { statusCode, headers: sent, body } = await app.inject({
      method, url: new URL(link).pathname, headers: { host: 'mcp.example.com', ...headers }
    })
    const { date, ...others } = sent
    return { statusCode, others, body }
  }
  t.equal((await get(link, { authorization: 'Bearer ada' })).body, 'secret')
  t.equal((await get(link)).body, 'secret', 'a browser has no token')
  const foreign = await get(link, { authorization: 'Bearer bob' })
  t.equal(foreign.statusCode, 404)
  const unknown = await get('https://mcp.example.com/shop/files/nothing')
  const torn = await get(link.slice(0, -1))
  const posted = await get(link, await toForm('a.txt', 'x').then(({ headers }) => headers), 'POST')
  now += 61_000
  const expired = await get(link)
  for (const answer of [unknown, torn, posted, expired]) t.strictSame(answer, foreign)
})

t.test('a file that is gone from the storage is not there, with the same answer', async (t) => {
  const { app, folder, get } = await build(t)
  const link = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }))
  const [file = ''] = await readdir(folder)
  const { rm } = await import('node:fs/promises')
  await rm(join(folder, file))
  const unknown = await get('https://mcp.example.com/shop/files/x')
  for (const method of ['GET', 'HEAD'] as const) {
    const { statusCode, headers } = await get(link, {}, method)
    t.equal(statusCode, 404)
    t.strictSame(Object.keys(headers), Object.keys(unknown.headers))
  }
})

t.test('a download has the promised bytes, or its connection is closed', async (t) => {
  const { app, folder, get } = await build(t)
  const link = linkIn(await call(app, 'put', { bytes: 200_000, name: 'a.bin' }))
  const [file = ''] = await readdir(folder)
  const path = join(folder, file)
  const url = new URL(new URL(link).pathname, await listen(app))
  const headers = { host: 'mcp.example.com' }
  await appendFile(path, 'more')
  const { headers: { 'content-length': length }, rawPayload } = await get(link)
  t.strictSame([length, rawPayload.length], ['200000', 200_000])
  t.equal((await get(link, { range: 'bytes=-3' })).body.length, 3)
  await truncate(path, 100_000)
  const [answer] = await once(request(url, { headers }).end(), 'response')
  t.equal(answer.headers['content-length'], '200000')
  await t.rejects(buffer(answer), { code: 'ECONNRESET' })
  await truncate(path, 0)
  const empty = await get(link)
  t.equal(empty.statusCode, 500)
  t.equal(Number(empty.headers['content-length']), empty.body.length)
})

t.test('half a character in a name becomes valid text', async (t) => {
  const { app, get } = await build(t)
  const { content: [link] } = await call(app, 'put', { text: 'a', name: 'a\ud800.txt' })
  t.equal(link.name, 'a\ufffd.txt')
  t.match((await get(link.uri)).headers['content-disposition'], "filename*=UTF-8''a%EF%BF%BD.txt")
})

t.test('while the storage is away a link answers 503', async (t) => {
  t.teardown(replaceTime({ pause: async () => {} }))
  const bucket = createServer(({ method }, response) => {
    response.writeHead(method === 'PUT' ? 200 : 500, { etag: '"a"' }).end()
  }).listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  t.teardown(() => bucket.close().closeAllConnections())
  const { port } = bucket.address() as AddressInfo
  const { app, get } = await build(t, {
    filesUrl: `s3://files?endpoint=http://127.0.0.1:${port}`,
    environment: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
  })
  const link = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }))
  for (const method of ['GET', 'HEAD'] as const) {
    const { statusCode, headers } = await get(link, {}, method)
    t.strictSame([statusCode, headers['retry-after']], [503, '5'])
  }
})

t.test('a download that breaks off is in the log, with the cause if it is the storage', async (t) => {
  let isShort = false
  const bucket = createServer(({ method }, response) => {
    response.setHeader('etag', '"a"')
    if (method === 'GET') response.write('short')
    if (method !== 'GET' || isShort) response.end()
  }).listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  t.teardown(() => bucket.close().closeAllConnections())
  const { port } = bucket.address() as AddressInfo
  const log = createReadableLog()
  const { app } = await build(t, {
    filesUrl: `s3://files?endpoint=http://127.0.0.1:${port}`,
    environment: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
    logger: log.logger
  })
  await listen(app)
  const path = new URL(linkIn(await call(app, 'put', { bytes: 1_000_000, name: 'a.txt' }))).pathname
  const endsOf = () => log.lines.filter(({ method, msg }) => method === 'GET' && msg === 'request')
  const begin = () => request(new URL(path, app.listeningOrigin), { headers: { host: 'mcp.example.com' } })

  const leaving = begin().on('error', () => {}).end()
  await once(leaving, 'response')
  leaving.destroy()
  await until(() => endsOf().length === 1, 'the end of the first one')
  t.match(endsOf()[0], { status: 200, outcome: 'cancelled' })
  t.notOk(log.text().includes('a download broke off'), 'the client has left by itself')

  isShort = true
  const short = begin().on('error', () => {}).end()
  const [answer] = await once(short, 'response')
  answer.on('error', () => {}).resume()
  await until(() => endsOf().length === 2, 'the end of the second one')
  t.match(log.lines.find(({ msg }) => msg === 'a download broke off'), {
    level: 40, err: { message: 'the file ended 999995 bytes before its promised length of 1000000' }
  })
})

t.test('a path that cannot be decoded gets the answer of an unknown one', async (t) => {
  const { app } = await build(t)
  const headers = { host: 'mcp.example.com' }
  const answers = async (paths: readonly string[]) => await Promise.all(paths.map(async (url) => {
    const { statusCode, body } = await app.inject({ url, headers })
    return { statusCode, body }
  }))
  const [unknown, ...torn] = await answers(['/shop/files/x', '/shop/files/%', '/shop/files/%ff?a=%'])
  t.equal(unknown?.statusCode, 404)
  for (const answer of torn) t.strictSame(answer, unknown)
  const [nowhere, bad] = await answers(['/nowhere', '/nowhere/%'])
  t.equal(nowhere?.statusCode, 404)
  t.strictSame(bad, nowhere)
})

t.test('with filesToken required, a link needs the token of its owner', async (t) => {
  const { app, get } = await build(t, { filesToken: 'required', authenticator: NAMES })
  const link = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }, { as: 'ada' }))
  t.equal((await get(link)).statusCode, 401)
  t.equal((await get(link, { authorization: 'Bearer bob' })).statusCode, 404)
  t.equal((await get(link, { authorization: 'Bearer ada' })).statusCode, 200)
})

t.test('hosts and origins are checked as at the endpoint, and other methods are refused', async (t) => {
  const { app, get } = await build(t)
  const link = linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' }))
  t.equal((await get(link, { host: 'evil.example.com' })).statusCode, 403)
  t.equal((await get(link, { origin: 'https://evil.example.com' })).statusCode, 403)
  t.equal((await get(link, { origin: 'https://mcp.example.com' })).statusCode, 200)
  const { statusCode, headers } = await app.inject({
    method: 'DELETE', url: new URL(link).pathname, headers: { host: 'mcp.example.com' }
  })
  t.strictSame([statusCode, headers.allow], [405, 'GET, HEAD, POST'])
})

t.test('a file over a limit is refused in words for the model, and nothing is kept', async (t) => {
  const { app, folder } = await build(t, { maxFileBytes: 100_000, maxFileBytesPerCaller: 150_000 })
  const put = async (args: object) => await call(app, 'put', { name: 'a.bin', ...args })
  const large = await put({ bytes: 100_001 })
  const text = 'The file is larger than 100000 bytes, the most that is taken.'
  t.match(large, { isError: true, content: [{ text }] })
  t.strictSame(await readdir(folder), [])
  t.match(await call(app, 'put_path', { path: process.execPath }), large, 'before it is read')
  t.notOk((await put({ bytes: 90_000 })).isError)
  t.match(await put({ bytes: 60_001 }), {
    isError: true, content: [{ text: /^The limit of files is reached/ }]
  })
  t.notOk((await put({ bytes: 60_000 })).isError)
  t.equal((await readdir(folder)).length, 2)
})

t.test('files that are put at the same time do not pass the limit together', async (t) => {
  const { app, folder } = await build(t, { maxFileBytesPerCaller: 100_000 })
  const all = Array.from({ length: 8 }, async () => await call(app, 'put', { bytes: 40_000, name: 'a.bin' }))
  await Promise.all(all)
  t.ok((await readdir(folder)).length <= 2)
})

t.test('each owner has a total of its own', async (t) => {
  const { app } = await build(t, { maxFileBytesPerCaller: 100_000, authenticator: NAMES })
  for (const as of ['ada', 'bob']) {
    t.notOk((await call(app, 'put', { bytes: 80_000, name: 'a.bin' }, { as })).isError)
    t.ok((await call(app, 'put', { bytes: 80_000, name: 'a.bin' }, { as })).isError)
  }
})

t.test('a source that breaks off is the error of its caller, and leaves nothing', async (t) => {
  const { app, folder } = await build(t)
  const { error } = await call(app, 'put', { bytes: 300_000, breaksOff: true, name: 'a.bin' })
  t.equal(error.code, -32603)
  t.strictSame(await readdir(folder), [])
  t.match(linkIn(await call(app, 'put', { text: 'a', name: 'a.txt' })), /^https:/)
})

t.test('a storage that fails is an error that the model reads, and the log has the cause', async (t) => {
  const { app, folder } = await build(t)
  const { rm } = await import('node:fs/promises')
  await rm(folder, { recursive: true })
  t.match(await call(app, 'put', { text: 'a', name: 'a.txt' }), {
    isError: true, content: [{ text: /^The file could not be kept: the storage is full or does not answer/ }]
  })
})

t.test('options that are not valid are named', async (t) => {
  const lines: string[] = []
  const { openLog } = await import('../../../src/ops/log/log.ts')
  const { logger } = openLog('error')
  const log = Object.assign(Object.create(logger), {
    child () { return this }, error: (fields: { err?: Error }) => lines.push(String(fields.err?.message))
  })
  const app = await buildApp(t, FILES, { logger: log })
  const wrong = [
    {}, { name: '..' }, { name: 'a', mimeType: 'x' }, { name: 'a', ttlMs: 5 }, { name: 'a', ttlMs: '1h' },
    { name: 'a' }
  ]
  const answers = []
  for (const options of wrong) answers.push(await call(app, 'put', { text: 'a', ...options }))
  t.strictSame(
    answers.filter(({ isError }) => isError).map(({ content: [{ text }] }) => text),
    [
      "put: name must be a file's name, such as report.csv, got '..'",
      "put: mimeType must be a media type such as text/csv, got 'x'",
      'put: ttlMs must be a number from 1000 to 2592000000, got 5'
    ],
    'the model reads what it may have chosen'
  )
  t.match(lines, [
    "put: name must be a file's name, such as report.csv, got undefined",
    "put: ttlMs must be a number from 1000 to 2592000000, got '1h'",
    'TRIVET_PUBLIC_URL is not set, so the service does not know the URL of its files'
  ])
})

t.test('a large file of the catalog is linked, and a small one is not', async (t) => {
  const app = await buildApp(t, {
    'tools/show.ts': `import { defineTool } from 'trivet'
      export default defineTool({ name: 'show', description: 'A tool.', inputSchema: { type: 'object' },
        run: async ({ uri }, ctx) => ({ content: [ctx.linkResource(uri), await ctx.embedResource(uri)] }) })`,
    'resources/small.txt': 'small',
    'resources/large.txt': 'x'.repeat(20_000),
    'resources/huge.bin': Buffer.alloc(40_000)
  }, { ...PUBLIC, constants: { maxEmbeddedBytes: 10_000 }, maxResourceBytes: 30_000 })
  const headers = { host: 'mcp.example.com' }
  const get = async (link: string) => await app.inject({ url: new URL(link).pathname, headers })
  t.match(await call(app, 'show', { uri: 'file:///small.txt' }), {
    content: [{ uri: 'file:///small.txt' }, { type: 'text' }, { resource: { text: 'small' } }]
  })
  const { content: [linked, , embedded] } = await call(app, 'show', { uri: 'file:///large.txt' })
  for (const link of [linked, embedded]) {
    t.match(link, { type: 'resource_link', name: 'large.txt', size: 20_000, mimeType: 'text/plain' })
    const { headers, body } = await get(link.uri)
    t.equal(body.length, 20_000)
    t.equal(headers['content-disposition'], 'attachment; filename="large.txt"')
  }
  const { send } = await import('../../helpers/request.ts')
  const { response } = await send(app, { method: 'resources/read', params: { uri: 'file:///huge.bin' } })
  t.match(response.error, {
    code: -32602, message: /^Resource too large: 40000 bytes, the limit is 30000\. Download it from https:/
  })
  t.equal((await get(response.error.data.link)).rawPayload.length, 40_000)
})

t.test('a link to a file of the catalog is as hidden as the file', async (t) => {
  const files = {
    'tools/show.ts': `import { defineTool } from 'trivet'
      export default defineTool({ name: 'show', description: 'A tool.',
        run: (_, ctx) => ({ content: [ctx.linkResource('file:///plan.txt')] }) })`,
    'resources/plan.txt': 'x'.repeat(20_000),
    'resources/plan.txt.meta.yaml': 'scopes: [plans]\n'
  }
  const app = await buildApp(t, files, {
    ...PUBLIC,
    constants: { maxEmbeddedBytes: 10_000 },
    authenticator: {
      authenticate: (header) => ({ subject: 'ada', scopes: new Set(header?.slice(7).split(' ')) })
    }
  })
  const link = linkIn(await call(app, 'show', {}, { as: 'plans' }))
  const headers = { host: 'mcp.example.com' }
  const read = async () => await app.inject({ url: new URL(link).pathname, headers })
  t.equal((await read()).statusCode, 200)
  const { content: [hidden] } = await call(app, 'show', {}, { as: 'others' })
  t.equal(hidden.uri, 'file:///plan.txt', 'as for a file that is not there')
})

t.test('shared state without a named storage is refused at the first file, with the setting', async (t) => {
  const { openFiles } = await import('../../../src/app/files.ts')
  const parts = { backend: {}, sealer: {}, catalog: {}, environment: {}, log: {}, clock: {} } as never
  const config = { stateUrl: 'redis://h', filesUrl: undefined, publicUrl: 'https://a.example.com' } as never
  const { access } = await openFiles(config, parts)
  await t.rejects(access.open({} as never).put('a'), {
    message: /^TRIVET_FILES_URL is not set, but TRIVET_STATE_URL is shared/
  })
})

t.test('a storage that cannot be used stops the start with its setting', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'file'), '')
  await t.rejects(buildApp(t, FILES, { filesUrl: `file:${join(folder, 'file')}` }), {
    message: /TRIVET_FILES_URL=file:\S+ cannot be used: expected a folder/
  })
  await t.rejects(buildApp(t, FILES, { filesUrl: 's3://files' }), { message: /AWS_ACCESS_KEY_ID is missing/ })
})

t.test('the page of an upload is no file, and a file is no page', async (t) => {
  const { app, get } = await build(t)
  t.equal((await get(pageIn(await call(app, 'take')))).headers['content-type'], 'text/html; charset=utf-8')
})
