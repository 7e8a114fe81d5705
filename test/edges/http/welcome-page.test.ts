// What a browser gets at the endpoint and at the root, and that other clients get what they got before.

import t from 'tap'
import { NAMES } from '../../features/files/file-tools.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'

/** As Chromium sends it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const FILES = {
  'server.yaml': 'name: secret-name\nversion: 9.8.7\n', 'tools/a.ts': toolModule('secret_tool')
}

t.test('a browser reads how to connect, without a token and without facts of the catalog', async (t) => {
  const app = await buildApp(t, FILES, { authenticator: NAMES, publicUrl: 'https://mcp.example.com/mcp' })
  for (const url of ['/mcp', '/mcp/', '/', '/?utm_source=x']) {
    const { statusCode, headers, body } = await app.inject({ url, headers: { accept: BROWSER } })
    t.equal(statusCode, 200, url)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'/,
      'cache-control': 'no-store',
      vary: 'Accept'
    })
    t.match(body, 'claude mcp add --transport http my-server https://mcp.example.com/mcp')
    t.notMatch(body, /secret|9\.8\.7|<script/)
  }
  const call = { method: 'POST', url: '/mcp', headers: { accept: BROWSER }, body: {} } as const
  t.equal((await app.inject(call)).statusCode, 401, 'a POST needs its token all the same')
})

t.test('who does not prefer HTML gets 405 at the endpoint, and 404 at the root (49, 326, 384)', async (t) => {
  const accepts = [
    undefined, '*/*', 'text/event-stream', 'application/json, text/event-stream',
    'text/html, text/event-stream', 'text/html;q=0.5, text/event-stream', 'text/html;q=0.5, */*',
    'text/html;q=0', 'text/html;q=x', 'x-text/html'
  ]
  for (const legacy of ['on', 'off'] as const) {
    const app = await buildApp(t, FILES, { legacy })
    for (const accept of accepts) {
      const headers = accept === undefined ? {} : { accept }
      t.equal((await app.inject({ url: '/mcp', headers })).statusCode, 405, `${accept}`)
      t.equal((await app.inject({ url: '/', headers })).statusCode, 404, `${accept}`)
    }
    for (const method of ['HEAD', 'DELETE', 'PUT', 'PATCH'] as const) {
      const { statusCode } = await app.inject({ method, url: '/mcp', headers: { accept: BROWSER } })
      t.equal(statusCode, 405, method)
    }
  }
  const guarded = await buildApp(t, FILES, { authenticator: NAMES })
  t.equal((await guarded.inject({ url: '/mcp', headers: { accept: 'text/event-stream' } })).statusCode, 401)
})

t.test('without a public URL the page has the host that was asked for', async (t) => {
  const options = { allowedHosts: ['mcp.example.com'], trustedProxies: ['loopback'] }
  const app = await buildApp(t, FILES, options)
  const visit = async (headers: { readonly [name: string]: string }, url = '/mcp') => await app.inject({
    url, headers: { accept: BROWSER, ...headers }
  })
  t.match((await visit({ host: 'mcp.example.com:8080' })).body, '<pre>http://mcp.example.com:8080/mcp</pre>')
  const forwarded = { host: 'mcp.example.com', 'x-forwarded-proto': 'https' }
  t.match((await visit(forwarded)).body, '<pre>https://mcp.example.com/mcp</pre>')
  t.equal((await visit({ host: 'rebound.example' })).statusCode, 403, 'and another host gets nothing')
  t.equal((await visit({ host: 'rebound.example' }, '/')).statusCode, 404)
})

t.test('an endpoint at the root has the page too', async (t) => {
  const app = await buildApp(t, FILES, { path: '/' })
  const { statusCode, body } = await app.inject({ url: '/', headers: { accept: BROWSER, host: 'localhost' } })
  t.equal(statusCode, 200)
  t.match(body, '<pre>http://localhost/</pre>')
  t.equal((await app.inject({ url: '/' })).statusCode, 405)
})

t.test('a program that embeds the service may serve the root itself', async (t) => {
  const app = await buildApp(t, FILES)
  app.get('/', () => 'own')
  t.equal((await app.inject({ url: '/', headers: { accept: BROWSER } })).body, 'own')
})
