// The host names and web origins that the service answers.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { type RequestParts, send, toPost } from '../../helpers/request.ts'

const list = { method: 'tools/list' }

t.test('a service that only this machine can reach', async (t) => {
  const app = await buildApp(t, {})
  const withHeaders = async (headers: RequestParts['headers']) => await send(app, {
    ...list, headers: headers ?? {}
  })

  t.test('answers to the names of this machine, under any port (5)', async (t) => {
    for (const host of [
      'localhost', '127.0.0.1', '[::1]', 'localhost:3000', '127.0.0.1:80', '[::1]:8080', 'LOCALHOST:1'
    ]) {
      t.equal((await withHeaders({ host })).status, 200, host)
    }
  })

  t.test('answers to no other name: 403 and an error without an id (5)', async (t) => {
    for (const host of [
      'evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example',
      'localhost:3000:80', 'xlocalhost'
    ]) {
      const { status, response } = await withHeaders({ host })
      t.equal(status, 403, host)
      t.equal(response.error.code, -32600)
      t.notOk('id' in response)
    }
  })

  t.test('answers pages of this machine and clients that are not pages (4)', async (t) => {
    for (const origin of [
      undefined, 'http://localhost', 'http://localhost:5173', 'https://127.0.0.1:8443', 'http://[::1]:3000'
    ]) {
      t.equal((await withHeaders({ origin })).status, 200, String(origin))
    }
  })

  t.test('refuses every method from other pages: 403 and an error without an id (2, 3)', async (t) => {
    for (const origin of [
      'https://evil.example', 'http://localhost.evil.example', 'http://evil.example#localhost', 'null', '',
      'file://'
    ]) {
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS'] as const) {
        const { headers, body } = toPost(list)
        const answer = await app.inject({
          method, url: '/mcp', headers: { ...headers, origin }, ...(method === 'POST' ? { body } : {})
        })
        t.equal(answer.statusCode, 403, `${method} from ${origin}`)
        t.notOk('id' in answer.json())
      }
    }
  })

  t.test('checks the origin before everything else (2)', async (t) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { origin: 'https://evil.example', 'content-type': 'text/plain' },
      body: '{'
    })
    t.equal(answer.statusCode, 403)
  })
})

t.test('a service that other machines can reach', async (t) => {
  const app = await buildApp(t, {}, {
    allowedHosts: ['shop.example', 'Other.example:8443'], allowedOrigins: ['https://app.example']
  })
  const statusOf = async (headers: { [name: string]: string }) => (
    await send(app, { ...list, headers })
  ).status
  t.equal(
    await statusOf({ host: 'localhost' }), 200,
    'answers to the names of this machine while it does not listen'
  )
  await app.listen({ host: '0.0.0.0', port: 0 })

  t.test('answers to the configured hosts', async (t) => {
    for (const host of ['shop.example', 'SHOP.example:443', 'other.example:8443']) {
      t.equal(await statusOf({ host }), 200, host)
    }
    for (const host of ['other.example', 'other.example:1', 'localhost', 'sub.shop.example']) {
      t.equal(await statusOf({ host }), 403, host)
    }
  })

  t.test('answers the configured origins with CORS headers (3)', async (t) => {
    const { status, headers } = await send(app, {
      ...list, headers: { host: 'shop.example', origin: 'https://app.example' }
    })
    t.equal(status, 200)
    t.equal(headers['access-control-allow-origin'], 'https://app.example')
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/mcp',
      headers: {
        host: 'shop.example',
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method'
      }
    })
    t.equal(preflight.statusCode, 204)
    t.match(preflight.headers, {
      'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'mcp-method'
    })
    for (const origin of [
      'http://app.example', 'https://app.example:444', 'https://evil.example', 'http://localhost:3000'
    ]) {
      t.equal(await statusOf({ host: 'shop.example', origin }), 403, origin)
    }
  })

  t.test('answers to any host if none is configured, but to no page', async (t) => {
    const open = await buildApp(t, {})
    await open.listen({ host: '0.0.0.0', port: 0 })
    t.equal((await send(open, { ...list, headers: { host: 'any.example' } })).status, 200)
    t.equal(
      (await send(open, { ...list, headers: { host: 'any.example', origin: 'https://any.example' } })).status,
      403
    )
  })

  t.test('answers the first request over the socket', async (t) => {
    const open = await buildApp(t, {})
    const port = new URL(await open.listen({ host: '0.0.0.0', port: 0 })).port
    const { headers, body } = toPost(list)
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST', headers: { ...headers, connection: 'close' }, body
    })
    t.equal(answer.status, 200)
  })

  t.test('answers only to the names of this machine on each loopback address', async (t) => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const local = await buildApp(t, {})
      await local.listen({ host, port: 0 })
      t.equal((await send(local, { ...list, headers: { host: 'localhost:1' } })).status, 200)
      t.equal((await send(local, { ...list, headers: { host: 'evil.example' } })).status, 403)
    }
  })
})
