// Upstreams that misbehave: they hang, drip, never end, answer too much, or in another form.

import { gzipSync } from 'node:zlib'
import t from 'tap'
import { until } from '../../helpers/deadline.ts'
import { openCaller, startUpstream, textOf } from './upstream-server.ts'

/** Resolves to the code of the error, beside what the handler has read. */
const READ = `async ({ path = 'x', init = {}, read = 'text' }, ctx) => {
  let status
  try {
    const answer = await ctx.fetch(crm, path, init)
    status = answer.status
    const body = await answer[read]()
    return { status, body: read === 'arrayBuffer' ? body.byteLength : body }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { status, code: error.code, message: error.message, upstream: error.upstream }
  }
}`

const QUICK = "limits: { timeoutMs: 300, answerBytes: 1_000_000 }, retry: false, auth: { type: 'none' }"

t.test('an upstream that hangs before its head is a timeout', async (t) => {
  const upstream = await startUpstream(t, () => {})
  const { call, log } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  const { structuredContent } = await call()
  t.strictSame(structuredContent, {
    code: 'timeout',
    message: 'The service crm did not answer within 300 ms. Try again later.',
    upstream: 'crm'
  })
  await until(() => upstream.sockets.size === 0, 'the connection to be closed')
  const line = log.lines.find(({ msg }) => msg === 'upstream call failed')
  t.match(line, { upstream: 'crm', method: 'GET', path: '/api/x', outcome: 'timeout', level: 40 })
  t.match(line.reqId, /./)
})

t.test('an upstream that hangs in its body, drips, or never ends is a timeout of the body', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    response.write('{"a":')
    if (url === '/api/hang') return
    const timer = setInterval(() => response.write(' '), url === '/api/drip' ? 20 : 1)
    response.on('close', () => clearInterval(timer))
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  for (const path of ['hang', 'drip', 'endless']) {
    const { structuredContent } = await call({ path })
    t.match(structuredContent, { status: 200, code: 'timeout' }, path)
  }
  await until(() => upstream.sockets.size === 0, 'the connections to be closed')
})

t.test('an answer of 10 GB is too large, with a length that says so, and without one', async (t) => {
  let sent = 0
  const chunk = Buffer.alloc(65_536, 'x')
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/length') response.setHeader('content-length', 10_737_418_240)
    const write = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length
    }
    response.on('drain', write)
    write()
  })
  const definition = "limits: { timeoutMs: 5000, answerBytes: 1_000_000 }, auth: { type: 'none' }"
  const { call } = await openCaller(t, upstream, { definition, run: READ })
  const { structuredContent: byLength } = await call({ path: 'length' })
  t.match(byLength, {
    code: 'too_large', message: 'The service crm answered with more than can be read. Ask for less.'
  })
  t.equal(byLength.status, undefined, 'no byte of the body is waited for')
  t.match((await call({ path: 'endless' })).structuredContent, { status: 200, code: 'too_large' })
  await until(() => upstream.sockets.size === 0, 'the connections to be closed')
  t.ok(sent < 50_000_000, `the upstream could send ${sent} bytes`)
})

t.test('a length that lies is no complete answer', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    const { socket } = response
    socket?.write(`HTTP/1.1 200 OK\r\ncontent-length: ${url === '/api/more' ? 2 : 100}\r\n\r\nabcdef`)
    if (url !== '/api/more') socket?.end()
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  t.match((await call({ path: 'less' })).structuredContent, { status: 200, code: 'unreachable' })
  t.strictSame((await call({ path: 'more' })).structuredContent, { status: 200, body: 'ab' })
})

t.test('a small answer that becomes a large one is too large', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  t.ok(bomb.length < 60_000)
  const upstream = await startUpstream(t, ({ url }, response) => {
    response.setHeader('content-encoding', url === '/api/twice' ? 'gzip, gzip' : 'gzip')
    response.end(url === '/api/twice' ? gzipSync(bomb) : bomb)
  })
  const definition = "limits: { answerBytes: 1_000_000 }, auth: { type: 'none' }"
  const { call } = await openCaller(t, upstream, { definition, run: READ })
  for (const path of ['once', 'twice']) {
    t.match((await call({ path })).structuredContent, { status: 200, code: 'too_large' }, path)
  }
})

t.test('reads compressed answers, and counts what they are', async (t) => {
  const text = 'x'.repeat(200_000)
  const upstream = await startUpstream(t, (request, response) => {
    response.setHeader('content-encoding', 'gzip')
    const bytes = gzipSync(text)
    response.end(request.url === '/api/cut' ? bytes.subarray(0, -12) : bytes)
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  t.equal((await call({ read: 'arrayBuffer' })).structuredContent.body, 200_000)
  t.match((await call({ path: 'cut' })).structuredContent, { code: 'unreachable' })
})

t.test('an answer of another type than asked for is an error, unless it has no content', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/none') response.writeHead(204).end()
    else {
      response.setHeader('content-type', 'Text/HTML; charset=utf-8')
      response.writeHead(url === '/api/bad' ? 400 : 200).end('<p>')
    }
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  const init = { accept: 'application/json' }
  t.match((await call({ init })).structuredContent, {
    code: 'wrong_type',
    message: 'The service crm answered in a form that cannot be read. The same call fails again.'
  })
  const both = { accept: ['text/*', 'application/json'] }
  t.match((await call({ init: both })).structuredContent, { body: '<p>' })
  t.match((await call({ path: 'none', init })).structuredContent, { status: 204, body: '' })
  t.match((await call({ path: 'bad', init })).structuredContent, { status: 400, body: '<p>' })
})

t.test('what is no HTTP, or another protocol, is unreachable', async (t) => {
  const upstream = await startUpstream(t, ({ url }, { socket }) => {
    if (url === '/api/upgrade') socket?.write('HTTP/1.1 101 A\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')
    else socket?.end('SSH-2.0-OpenSSH\r\n')
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  t.match((await call()).structuredContent, { code: 'unreachable' })
  t.match((await call({ path: 'upgrade' })).structuredContent, { code: 'unreachable' })
})

t.test('a tool that does not catch the error passes on its message, and no cause', async (t) => {
  const upstream = await startUpstream(t, () => {})
  upstream.server.close()
  const { call, log } = await openCaller(t, upstream, {
    definition: 'retry: false', run: 'async (_, ctx) => (await ctx.fetch(crm, "x")).status'
  })
  const result = await call()
  t.equal(result.isError, true)
  t.equal(textOf(result), 'The service crm could not be reached, or broke off its answer. Try again later.')
  const line = log.lines.find(({ msg }) => msg === 'upstream call failed')
  t.match(line, { err: { code: 'ECONNREFUSED' }, outcome: 'unreachable' })
})

t.test('information before the answer is no answer', async (t) => {
  const upstream = await startUpstream(t, (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('done')
  })
  const { call } = await openCaller(t, upstream, { definition: QUICK, run: READ })
  t.strictSame((await call()).structuredContent, { status: 200, body: 'done' })
})

t.test('large bodies come whole, also where the reader is slow', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end(Buffer.alloc(900_000, 'y')))
  const { call } = await openCaller(t, upstream, {
    definition: "limits: { timeoutMs: 5000 }, auth: { type: 'none' }",
    run: `async (_, ctx) => {
      const answer = await ctx.fetch(crm, 'x')
      let bytes = 0
      for await (const chunk of answer.body) {
        bytes += chunk.length
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      const byob = (await ctx.fetch(crm, 'x')).body.getReader({ mode: 'byob' })
      const { value } = await byob.read(new Uint8Array(1000))
      return { bytes, byob: value.length }
    }`
  })
  t.strictSame((await call()).structuredContent, { bytes: 900_000, byob: 1000 })
})
