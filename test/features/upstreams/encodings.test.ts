// Answers that are compressed, or say that they are.

import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { ADA, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

t.test('an empty answer is empty, whatever its encoding', async (t) => {
  const upstream = await startUpstream(t, ({ url = '' }, response) => {
    response.setHeader('content-encoding', decodeURIComponent(url.slice(5))).end()
  })
  const late = await startUpstream(t, ({ url = '' }, response) => {
    response.setHeader('content-encoding', decodeURIComponent(url.slice(5)))
    response.flushHeaders()
    setTimeout(() => response.end(), 20)
  })
  for (const server of [upstream, late]) {
    const { fetch, outcomes, upstream: crm } = openUpstream(t, server)
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip,br', 'identity', 'identity,gzip']) {
      t.equal(await (await fetch(ADA, encodeURIComponent(encoding))).text(), '', encoding)
    }
    t.strictSame(new Set(outcomes), new Set(['ok']))
    t.equal(crm.running, 0)
  }
})

t.test('identity in a list of encodings is ignored', async (t) => {
  const bodies = new Map([
    ['identity, gzip', gzipSync('text')], ['br,identity', brotliCompressSync('text')],
    ['identity,', Buffer.from('text')], ['Identity, identity', Buffer.from('text')]
  ])
  const upstream = await startUpstream(t, ({ headers }, response) => {
    const encoding = String(headers['x-encoding'])
    response.setHeader('content-encoding', encoding).end(bodies.get(encoding))
  })
  const { fetch } = openUpstream(t, upstream)
  for (const encoding of bodies.keys()) {
    t.equal(await (await fetch(ADA, 'x', { headers: { 'x-encoding': encoding } })).text(), 'text', encoding)
  }
})

t.test('a compressed answer that breaks off is still an error', async (t) => {
  const upstream = await startUpstream(t, (_, response) => {
    response.setHeader('content-encoding', 'gzip').end(gzipSync('text').subarray(0, 10))
  })
  const { fetch } = openUpstream(t, upstream)
  await t.rejects((async () => await (await fetch(ADA)).text())(), { code: 'unreachable' })
})
