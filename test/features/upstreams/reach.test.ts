// Where calls can go: paths, redirects, addresses, and what a handler cannot set.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import {
  compileUpstream, type CompiledUpstream
} from '../../../src/features/upstreams/definition/compile-upstream.ts'
import { defineUpstream, type UpstreamOptions } from '../../../src/platform/author/define-upstream.ts'
import type { ResolveHost } from '../../../src/platform/access/checked-lookup.ts'
import { readCallTarget } from '../../../src/features/upstreams/target.ts'
import { createUpstreams } from '../../../src/features/upstreams/upstreams.ts'
import { ADA } from './open-upstream.ts'
import { openCaller, startUpstream } from './upstream-server.ts'
import { NO_CREDENTIALS } from './no-credentials.ts'

const BASE = new URL('https://crm.example.com/api/')

const ESCAPES = [
  '/admin', '//evil.example', 'https://evil.example/', 'https:evil', 'HTTP://crm.example.com/api/x',
  'javascript:x', '..', '../admin', 'a/../../admin', './a', 'a/.', '.', '\\admin', '..\\admin',
  'a\\..\\..\\admin',
  '%2e%2e/admin', '%2E%2e', '.%2e/x', '%2e./x', 'a/%2e%2e/%2e%2e/admin', '..%2fadmin', 'a%2f..%2f..%2fadmin',
  'a%2F%2e%2E%2Fx', '%252e%252e/x', '%25252e%25252e/x', '%2525252525252e', '..%5cadmin', 'a%5cb', 'a%255c..',
  '..;/admin', '..;a=b/admin', '%2e%2e;/admin', '..%3b/admin', '..%00/x', 'a%00', 'a%0d%0aHost: x', 'a\r\nb',
  '.\t./x', '\t//evil.example', ' //evil.example', '..\n/x', 'a#b', 'x\u0000', ' ../x', '../x ', '\u0001..'
]

t.test('a path cannot leave the URL of the upstream, in any encoding', (t) => {
  const read = (path: unknown) => readCallTarget(BASE, path as string, undefined)
  for (const path of ESCAPES) t.throws(() => read(path), TypeError, JSON.stringify(path))
  t.throws(() => read(new URL('https://evil.example')), TypeError)
  t.throws(() => read('../x?secret=1'), { message: /"\.\.\/x"/ }, 'without the query')
  t.end()
})

t.test('other paths arrive as they are', (t) => {
  const paths = [
    ['', '/api/'], ['customers/7', '/api/customers/7'], ['a.b/c.json', '/api/a.b/c.json'], ['...',
      '/api/...'],
    ['a%2Fb', '/api/a%2Fb'], ['caf%C3%A9', '/api/caf%C3%A9'], ['café', '/api/caf%C3%A9'], ['a b',
      '/api/a%20b'],
    ['100%25', '/api/100%25'], ['a..b', '/api/a..b'], ['..a', '/api/..a'], ['x;y=1', '/api/x;y=1'],
    ['%E2%80%9Cx%E2%80%9D', '/api/%E2%80%9Cx%E2%80%9D'], ['.well-known/x', '/api/.well-known/x']
  ] as const
  for (const [path, target] of paths) {
    t.strictSame(readCallTarget(BASE, path, undefined), { path: target, query: '' }, path)
  }
  t.strictSame(readCallTarget(BASE, 'a?b=1', { c: 'x&y', d: undefined, e: [1, true] }), {
    path: '/api/a', query: '?b=1&c=x%26y&e=1&e=true'
  })
  t.strictSame(readCallTarget(BASE, 'a?x=../..', undefined), { path: '/api/a', query: '?x=../..' })
  t.strictSame(readCallTarget(BASE, 'a', new URLSearchParams('q=1')), { path: '/api/a', query: '?q=1' })
  t.end()
})

t.test('the check of a path takes no time that grows with tricks', (t) => {
  const begin = process.cpuUsage()
  for (const path of [`${'a'.repeat(100_000)}\\`, `${'a.'.repeat(50_000)}#`, '%25'.repeat(30_000)]) {
    try { readCallTarget(BASE, path, undefined) } catch {}
  }
  t.ok(process.cpuUsage(begin).user < 1_000_000)
  t.end()
})

const RUN = `async ({ path = 'x', init }, ctx) => {
  try {
    const answer = await ctx.fetch(crm, path, init)
    return { status: answer.status, body: await answer.text() }
  } catch (error) {
    return { code: error.code, name: error.name, message: error.message }
  }
}`

t.test('redirects are followed within the upstream, and nowhere else', async (t) => {
  const elsewhere = await startUpstream(t, (_, response) => response.end('elsewhere'))
  const seen: unknown[] = []
  const upstream = await startUpstream(t, ({ url = '', headers, method }, response) => {
    seen.push([method, url, headers['x-key']])
    const query = new URL(url, 'http://x').searchParams
    const to = query.get('to')
    if (to === null) response.end('here')
    else response.writeHead(Number(query.get('status') ?? 302), { location: to }).end('body of the redirect')
  })
  const { call } = await openCaller(t, upstream, {
    definition: "auth: { type: 'secret', header: 'x-key', value: 'k1' }", run: RUN
  })
  const redirect = async (to: string, init: object = {}, status = 302) => {
    const { structuredContent } = await call({ path: 'x', init: { query: { to, status }, ...init } })
    return structuredContent
  }
  for (const to of ['y', '/api/y', `${upstream.url}/y`, './y']) {
    const expected = to === './y' ? { code: 'redirected' } : { status: 200, body: 'here' }
    t.match(await redirect(to), expected, to)
  }
  t.match(await redirect('y', {}, 308), { body: 'here' })
  t.match(await redirect('y', { method: 'HEAD' }), { status: 200, body: '' })
  const before = elsewhere.requests
  for (const to of [
    elsewhere.url, `${elsewhere.url}/x`, 'http://169.254.169.254/latest/', 'https://127.0.0.1/api/',
    '//evil.example/',
    '/admin', '../admin', '/api/../admin', '/api/%2e%2e/admin', '/api/..;/admin', '\\admin',
    'file:///etc/passwd',
    upstream.url.replace('http://', 'http://user:pass@'), '/apix', 'http://[::ffff:127.0.0.1]/api/'
  ]) t.match(await redirect(to), { code: 'redirected', name: 'UpstreamError' }, to)
  t.equal(elsewhere.requests, before)
  t.match(await redirect('y', { method: 'POST', body: 'a' }, 303), {
    code: 'redirected',
    message: 'The service crm did what it was asked to, and refers to another place for its answer, ' +
      'which is not asked. The same call does it again.'
  })
  t.match(await redirect('y', { method: 'PUT', body: 'a' }, 307), { code: 'redirected' })
  const requests = upstream.requests
  // It leads to itself.
  t.match((await call({ path: 'x?to=/api/x%3fto=y' })).structuredContent, { body: 'here' })
  t.ok(upstream.requests > requests)
  t.ok(seen.every((one) => Array.isArray(one) && String(one[1]).startsWith('/api/') && one[2] === 'k1'))
})

t.test('a circle of redirects ends', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.writeHead(302, { location: 'x' }).end())
  const { call } = await openCaller(t, upstream, { run: RUN })
  t.match((await call()).structuredContent, { code: 'redirected' })
  t.equal(upstream.requests, 6)
})

t.test('a redirect without a place, and another status with one, are answers', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/201') response.writeHead(201, { location: 'http://evil.example' }).end('made')
    else response.writeHead(302).end('nowhere')
  })
  const { call } = await openCaller(t, upstream, { run: RUN })
  t.strictSame((await call()).structuredContent, { status: 302, body: 'nowhere' })
  const { structuredContent } = await call({ path: '201', init: { method: 'POST' } })
  t.strictSame(structuredContent, { status: 201, body: 'made' })
})

t.test('a handler cannot set headers of the connection and of the credential', async (t) => {
  const upstream = await startUpstream(t, ({ headers }, response) => response.end(JSON.stringify(headers)))
  const { call } = await openCaller(t, upstream, {
    definition: "auth: { type: 'basic', user: 'u', password: 'p' }", run: RUN
  })
  for (const name of [
    'Host', 'connection', 'Content-Length', 'transfer-encoding', 'TE', 'trailer', 'upgrade', 'expect',
    'keep-alive', 'proxy-authorization', 'Proxy-Connection', 'Authorization', 'authorization', 'bad name',
    'a:b', ''
  ]) {
    const { structuredContent } = await call({ init: { headers: { [name]: 'x' } } })
    t.match(structuredContent, { name: 'TypeError', message: /^fetch: / }, name)
  }
  for (const value of ['a\r\nx: y', 'a\nb', 'a\0', '\u{1f600}']) {
    t.match((await call({ init: { headers: { 'x-a': value } } })).structuredContent, { name: 'TypeError' })
  }
  t.equal(upstream.requests, 0)
  const { structuredContent: { body } } = await call({
    init: { headers: { 'X-Mine': 'a', Accept: 'text/a' } }
  })
  t.match(JSON.parse(body), {
    'x-mine': 'a', accept: 'text/a', authorization: `Basic ${btoa('u:p')}`, host: new URL(upstream.url).host
  })
})

t.test('bodies and methods that are not valid are TypeErrors', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end())
  const { call } = await openCaller(t, upstream, { run: RUN })
  for (const init of [
    { method: 'CONNECT' }, { method: 'TRACE' }, { method: 'GET x' }, { body: 'a' },
    { method: 'HEAD', body: 'a' },
    { method: 'POST', body: 'a', json: 1 }, { method: 'POST', body: 7 }, { timeoutMs: 0 }, { timeoutMs: 'x' },
    { accept: 'json' }
  ]) t.match((await call({ init })).structuredContent, { name: 'TypeError' }, JSON.stringify(init))
  t.equal(upstream.requests, 0)
})

t.test('sends texts, bytes, forms and JSON', async (t) => {
  const upstream = await startUpstream(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.end(JSON.stringify([request.headers['content-type'], Buffer.concat(chunks).toString('latin1')]))
  })
  const { call } = await openCaller(t, upstream, {
    run: `async (_, ctx) => {
      const post = async (init) => await (await ctx.fetch(crm, 'x', { method: 'post', ...init })).json()
      const form = new FormData()
      form.set('a', 'b')
      return {
        json: await post({ json: { a: [1] } }), half: await post({ json: 'a\\ud83d' }), text: await post({ body: 'é' }),
        bytes: await post({ body: new Uint8Array([1, 2]) }), form: await post({ body: form }),
        search: await post({ body: new URLSearchParams({ a: 'b c' }) }),
        blob: await post({ body: new Blob(['x'], { type: 'image/png' }) }),
        own: await post({ json: 1, headers: { 'Content-Type': 'application/a+json' } })
      }
    }`
  })
  const { structuredContent } = await call()
  t.match(structuredContent, {
    json: ['application/json', '{"a":[1]}'],
    half: ['application/json', '"a\\ufffd"'],
    text: ['text/plain;charset=UTF-8', 'Ã©'],
    bytes: [null, '\u0001\u0002'],
    form: [/^multipart\/form-data; boundary=/, /name="a"\r\n\r\nb\r\n/],
    search: ['application/x-www-form-urlencoded;charset=UTF-8', 'a=b+c'],
    blob: ['image/png', 'x'],
    own: ['application/a+json', '1']
  })
})

const SETTINGS = { values: new Map(), secrets: new Map(), incomplete: new Set<object>() }

function compile (options: Partial<UpstreamOptions<Record<never, never>>>): CompiledUpstream {
  const definition = defineUpstream({ name: 'crm', url: 'https://x/', auth: { type: 'none' }, ...options })
  const fail = (place: string, rule: string) => { throw new Error(`${place}: ${rule}`) }
  const compiled = compileUpstream(definition, SETTINGS, fail)
  if (compiled === undefined) throw new Error('not compiled')
  return compiled
}

/** An upstream whose host resolves as the function says. */
async function openResolved (t: Test, options: Parameters<typeof compile>[0], resolveHost: ResolveHost) {
  const lines: object[] = []
  const log = { debug () {}, warn: (fields: object) => { lines.push(fields) } }
  const upstreams = createUpstreams({ log, workerCount: 1, credentials: NO_CREDENTIALS, resolveHost })
  const upstream = await upstreams.open(compile(options))
  t.teardown(async () => await upstream.close())
  return { lines, fetch: async (path = 'x') => await upstream.fetch(ADA, path) }
}

async function startServer (t: Test): Promise<{ readonly server: Server, readonly port: number }> {
  const server = createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

t.test('a host with a private address is refused, also beside a public one', async (t) => {
  const { server, port } = await startServer(t)
  let connections = 0
  server.on('connection', () => connections++)
  for (const address of [
    '127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0.0.0.0',
    '224.0.0.1',
    '::1', '::', '::ffff:127.0.0.1', '::ffff:10.0.0.1', 'fc00::1', 'fe80::1', 'ff02::1', '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe', '2002:7f00:1::', '240.0.0.1', '192.0.0.192', '168.63.129.16', '255.255.255.255'
  ]) {
    const family = address.includes(':') ? 6 : 4
    const resolveHost: ResolveHost = (_host, _options, callback) => {
      callback(null, [{ address: '93.184.215.14', family: 4 }, { address, family }])
    }
    const { fetch, lines } = await openResolved(t, { url: `https://crm.example.com:${port}/` }, resolveHost)
    await t.rejects(fetch(), { code: 'refused', upstream: 'crm' }, address)
    t.match(lines, [{
      outcome: 'refused',
      err: {
        message: `crm.example.com has the address ${address}, and ` +
      'allowPrivate is not set'
      }
    }])
  }
  t.equal(connections, 0)
})

t.test('some addresses are refused in any case', async (t) => {
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254', '0.0.0.0']) {
    const resolveHost: ResolveHost = (_host, _options, callback) => {
      callback(null, [{ address, family: address.includes(':') ? 6 : 4 }])
    }
    const { fetch } = await openResolved(t, { url: 'http://crm.internal/', allowPrivate: true }, resolveHost)
    await t.rejects(fetch(), { code: 'refused' }, address)
  }
})

t.test('a connection goes to the address that was checked, and each one is checked', async (t) => {
  const { server, port } = await startServer(t)
  let lookUps = 0
  const resolveHost: ResolveHost = (_host, _options, callback) => {
    lookUps++
    const address = lookUps === 1 ? '127.0.0.1' : '169.254.169.254'
    callback(null, [{ address, family: 4 }])
  }
  const url = `http://crm.internal:${port}/`
  const { fetch } = await openResolved(t, { url, allowPrivate: true, retry: false }, resolveHost)
  t.equal(await (await fetch()).text(), 'ok')
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(await (await fetch()).text(), 'ok', 'the connection stays where it is')
  t.equal(lookUps, 1, 'one look-up is both the check and the way')
  server.closeAllConnections()
  await new Promise((resolve) => setTimeout(resolve, 50))
  await t.rejects(fetch(), { code: 'refused' })
  t.equal(lookUps, 2)
})

t.test('definitions whose URL cannot be called are problems', (t) => {
  const problems: ReadonlyArray<readonly [options: object, problem: RegExp]> = [
    [{ url: 'ftp://x/' }, /must be a URL that begins with https/],
    [{ url: 'crm' }, /must be a URL/],
    [{ url: 'https://u:secret@x/' }, /must have no user/],
    [{ url: 'https://x/?' }, /no query/],
    [{ url: 'https://x/#' }, /no fragment/],
    [{ url: 'http://crm.example.com/' }, /tokens would travel in clear/],
    [{ url: 'https://10.0.0.1/' }, /private network: set allowPrivate/],
    [{ url: 'https://localhost/' }, /private network/],
    [{ url: 'https://[::ffff:127.0.0.1]/' }, /private network/],
    [{ url: 'https://2130706433/' }, /private network/],
    [{ url: 'https://0x7f.1/' }, /private network/],
    [{ url: 'https://[64:ff9b::7f00:1]/' }, /is in a private network: set allowPrivate: true/],
    [{ url: 'http://169.254.169.254/', allowPrivate: true }, /no upstream may have/],
    [{ url: () => '' }, /text that is not empty/],
    [{ url () { throw new Error('no URL') } }, /failed: no URL/],
    [{ auth: { type: 'magic' } }, /auth.type: must be one of none, secret, basic, service, exchange, claims/],
    [{ auth: { type: 'secret' } }, /auth: .*value/],
    [{ auth: { type: 'none', value: 'x' } }, /auth: .*value/],
    [{ auth: { type: 'secret', header: 'a b', value: 'x' } }, /auth: .*header/],
    [{ auth: { type: 'claims', headers: 7 } }, /auth.headers: must be a function/],
    [{ name: 'a b' }, /name/],
    [{ limits: { running: 0 } }, /running/],
    [{ retry: { attempts: 11 } }, /retry/],
    [{ settings: {} }, /settings: must be made by defineSettings/]
  ]
  for (const [options, problem] of problems) {
    t.throws(() => compile(options), { message: problem }, JSON.stringify(options))
  }
  t.equal(compile({ url: 'https://x/api' }).url.href, 'https://x/api/')
  t.match(compile({}), { attempts: 2, backoffMs: 100, timeoutMs: 10_000, running: 50 })
  t.match(compile({ retry: false }), { attempts: 1 })
  t.end()
})
