// What the log gets of a failure: why, and nothing of the answer.

import { inspect } from 'node:util'
import t from 'tap'
import { toTransportError, TransportError } from '../../../src/features/upstreams/transport-error.ts'
import { ADA, callerOf, endOf, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

t.test('no line has bytes of the answer, or the socket', async (t) => {
  const answers = new Map([
    ['/api/no-http', 'canary-answer canary-answer\r\n\r\n'],
    ['/api/header', 'HTTP/1.1 200 OK\r\nx-a: b\r\nbad canary-answer\r\n\r\n'],
    ['/api/chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\ncanary\r\n'],
    ['/api/status', 'HTTP/1.1 999 canary-answer\r\nx: canary-answer\r\ncontent-length: 0\r\n\r\n'],
    ['/api/gzip', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 13\r\n\r\ncanary-answer'],
    ['/api/less', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\ncanary-answer']
  ])
  const upstream = await startUpstream(t, ({ url = '' }, { socket }) => {
    socket?.end(answers.get(url) ?? '')
  })
  const { fetch, lines } = openUpstream(t, upstream)
  for (const path of answers.keys()) {
    t.equal(await endOf(fetch(ADA, path.slice(5))), 'unreachable', path)
  }
  t.equal(lines.length, answers.size)
  const text = inspect(lines, { depth: Infinity, showHidden: true })
  t.notMatch(text, 'canary')
  t.notMatch(text, /localPort|remotePort|bytesRead/)
  const err = lines[0]?.fields.err
  t.equal(lines[0]?.level, 'warn')
  t.ok(err instanceof TransportError && err.name === 'HTTPParserError', inspect(err))
})

t.test('causes, and the errors of several addresses, have only their name, code and message', (t) => {
  const first = Object.assign(new Error('connect ::1:1'), { code: 'ECONNREFUSED', data: 'canary' })
  const all = Object.assign(new AggregateError([first, new Error('second')], ''), { code: 'ECONNREFUSED' })
  const outer = Object.assign(new TypeError('failed', { cause: all }), { socket: 'canary', code: 7 })
  const error = toTransportError(outer)
  t.match(error, {
    name: 'TypeError',
    code: undefined,
    message: 'failed',
    cause: { name: 'AggregateError', code: 'ECONNREFUSED', message: 'connect ::1:1; second' }
  })
  t.notMatch(inspect(error, { depth: Infinity, showHidden: true }), 'canary')
  const circle = new Error('circle')
  circle.cause = circle
  t.equal(toTransportError(circle).message, 'circle', 'a circle of causes ends')
  t.equal(toTransportError('text').message, 'text')
  t.end()
})

t.test('many refused calls of one request are one warning', async (t) => {
  const upstream = await startUpstream(t, (_, response) => { setTimeout(() => response.end('ok'), 50) })
  const { fetch, lines } = openUpstream(t, upstream, { running: 4 })
  const warnings = () => lines.filter(({ level }) => level === 'warn')
  const calls = Array.from({ length: 1000 }, async () => await endOf(fetch(ADA)))
  const ends = await Promise.all(calls)
  t.equal(ends.filter((end) => end === 'busy').length, 998)
  t.equal(warnings().length, 1)
  t.match(warnings()[0]?.fields, { outcome: 'busy' })
  t.equal(lines.length, 1000, 'the others are at debug')
  const again = callerOf({ subject: 'ada' })
  await Promise.all(Array.from({ length: 3 }, async () => await endOf(fetch(again))))
  t.equal(warnings().length, 2, 'another request has its own')
})
