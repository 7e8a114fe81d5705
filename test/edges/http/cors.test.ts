// The CORS headers for web pages of allowed origins.

import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import type { RequestParts } from '../../helpers/request.ts'
import { openStream, post } from '../../helpers/stream.ts'
import { call, FILES, token } from './streaming-catalog.ts'

t.test('only pages of allowed origins may read answers, of every kind', async (t) => {
  const app = await buildApp(t, FILES, { allowedOrigins: ['https://app.example.com'] })
  const url = await listen(app)
  const from = (origin: string, parts: RequestParts): RequestParts => ({
    ...parts, headers: { origin, ...parts.headers }
  })
  const answers = {
    json: call('silent', { text: 'a' }),
    stream: call('steps', {}, token(1)),
    'protocol error': call('none'),
    'unknown method': { method: 'none' },
    'refused header': { ...call('silent'), headers: { 'mcp-name': 'other' } },
    'refused type': { ...call('silent'), headers: { 'content-type': 'text/plain' } }
  }
  for (const [kind, parts] of Object.entries(answers)) {
    const { headers } = await post(t, url, from('https://app.example.com', parts))
    t.equal(headers['access-control-allow-origin'], 'https://app.example.com', kind)
    t.match(headers.vary, /Origin/i)
    t.match(headers['access-control-expose-headers'], /Mcp-Method/i)
    const evil = await post(t, url, from('https://evil.example.com', parts))
    t.equal(evil.status, 403)
    t.notOk('access-control-allow-origin' in evil.headers)
    t.notOk(
      'access-control-allow-origin' in (await post(t, url, parts)).headers,
      'no CORS headers without an Origin'
    )
  }
  const listening = await openStream(
    t, url, from('https://app.example.com', { method: 'subscriptions/listen', params: { notifications: {} } })
  )
  t.equal(listening.headers['access-control-allow-origin'], 'https://app.example.com')
  t.equal(listening.headers['x-accel-buffering'], 'no')
})

t.test('answers preflight requests', async (t) => {
  const app = await buildApp(t, FILES, { allowedOrigins: ['https://app.example.com'] })
  const ask = async (origin: string) => await app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,mcp-protocol-version,mcp-method,mcp-name,authorization'
    }
  })
  const allowed = await ask('https://app.example.com')
  t.equal(allowed.statusCode, 204)
  t.match(allowed.headers, {
    'access-control-allow-origin': 'https://app.example.com',
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': /mcp-method.*authorization/i
  })
  const refused = await ask('https://evil.example.com')
  t.equal(refused.statusCode, 403)
  t.notOk('access-control-allow-origin' in refused.headers)
})
