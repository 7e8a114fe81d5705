// The log as lines for people.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { toPeople } from '../../../src/programs/terminal/log-for-people.ts'

const TIME = new Date(2026, 0, 2, 3, 4, 5).getTime()
const show = (fields: object) => stripVTControlCharacters(
  toPeople(`${JSON.stringify({ level: 30, time: TIME, pid: 1, hostname: 'h', ...fields })}\n`)
)

t.test('a request is its method, its primitive, its status and its time', async (t) => {
  const request = {
    reqId: 'a-1',
    method: 'tools/call',
    name: 'search',
    status: 200,
    outcome: 'ok',
    durationMs: 1,
    msg: 'request'
  }
  t.equal(show(request), '03:04:05 tools/call search 200 1 ms\n')
  t.equal(
    show({ ...request, outcome: 'failed', code: -32603 }),
    '03:04:05 tools/call search 200 failed error -32603 1 ms\n'
  )
  t.equal(show({ ...request, outcome: 'cancelled' }), '03:04:05 tools/call search 200 cancelled 1 ms\n')
  t.equal(
    show({ method: 'POST', status: 401, durationMs: 1, reason: 'no token', path: '/mcp', msg: 'request' }),
    '03:04:05 POST 401 1 ms: no token\n'
  )
})

t.test('text of a client gives the terminal no orders, and makes no line of its own', async (t) => {
  const order = '\u001b]0;owned\u0007\u009b2J\u202e'
  const line = (fields: object) => toPeople(JSON.stringify({ level: 30, time: TIME, ...fields }))
    .replace(/^\S+ /, '')
  const request = { method: `tools/${order}`, name: `a\n03:04:05 b${order}`, status: 400, durationMs: 1 }
  const err = { stack: `E: ${order}\n    at x` }
  const record = { msg: `a\r\n03:04:05 b${order}`, [`field${order}`]: [order], err }
  for (const text of [line({ ...request, msg: 'request' }), line(record)]) {
    t.notMatch(stripVTControlCharacters(text), /[^\P{C}\n]/u)
    t.notOk(text.includes('\u001b]'))
    t.notMatch(text, /^03:04:05/m)
  }
})

t.test('any other line has its level, its message, and the fields that say something', async (t) => {
  const changes = ['+ tool a', '~ prompt b', '- resource c', 'and 2 more']
  t.equal(
    show({ msg: 'catalog reloaded', version: 'x', lists: ['tools'], updated: 0, changes, durationMs: 3 }),
    '03:04:05 catalog reloaded durationMs=3\n  + tool a\n  ~ prompt b\n  - resource c\n  and 2 more\n'
  )
  t.equal(show({ level: 40, msg: 'take care' }), '03:04:05 warning: take care\n')
  t.equal(show({ msg: 'It serves', url: 'http://a/mcp' }), '03:04:05 It serves at http://a/mcp\n')
  t.equal(
    show({
      level: 50, msg: 'request failed', method: 'tools/call', err: { stack: 'Error: no\n    at a.ts:1' }
    }),
    '03:04:05 error: request failed method="tools/call"\n  Error: no\n      at a.ts:1\n'
  )
})

t.test('an error has the id of its request, and other lines have none', async (t) => {
  const fields = { msg: 'it happened', reqId: '37e0d6f9-98' }
  t.equal(show({ ...fields, level: 50 }), '03:04:05 error: it happened requestId="37e0d6f9-98"\n')
  t.equal(show(fields), '03:04:05 it happened\n')
})

t.test('an error has its message and the lines of its author, without those of the service', async (t) => {
  const own = new URL('../../../src/request/methods/tools-call.ts', import.meta.url)
  const stack = [
    'TypeError: x is not a function',
    `    at Object.run (${join(process.cwd(), 'tools/x.ts')}:6:11)`,
    '    at async Promise.all (index 0)',
    `    at load (file://${join(process.cwd(), 'lib')}/db.ts:2:3)`,
    '    at Array.map (<anonymous>)',
    '    at /elsewhere/a b.js:1:2',
    `    at handle (${own.pathname}:41:25)`,
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    'caused by: Error: the network'
  ].join('\n')
  t.equal(show({ level: 50, msg: 'request failed', err: { stack } }), [
    '03:04:05 error: request failed',
    '  TypeError: x is not a function',
    '      at Object.run (tools/x.ts:6:11)',
    '      at async Promise.all (index 0)',
    '      at load (lib/db.ts:2:3)',
    '      at /elsewhere/a b.js:1:2',
    '  caused by: Error: the network',
    ''
  ].join('\n'))
})

t.test('an error that arose in a package has the frames of packages', async (t) => {
  const stack = [
    'TypeError: x is not a function',
    `    at query (file://${join(process.cwd(), 'node_modules/mylib')}/index.js:2:3)`,
    '    at async Promise.all (index 0)',
    '    at listOnTimeout (node:internal/timers:581:17)'
  ].join('\n')
  t.equal(show({ level: 50, msg: 'request failed', err: { stack } }), [
    '03:04:05 error: request failed',
    '  TypeError: x is not a function',
    '      at query (node_modules/mylib/index.js:2:3)',
    '      at async Promise.all (index 0)',
    ''
  ].join('\n'))
})

t.test('a problem of the catalog has the line of its file', async (t) => {
  const catalog = t.testdir({ tools: {} })
  writeFileSync(join(catalog, 'tools/a.ts'), 'one\nconst a = = 1\n')
  const problems = [
    { file: 'tools/a.ts', place: 'line 2', column: 11, rule: 'Unexpected token' },
    { file: 'tools/a.ts', place: 'line 1', rule: 'is odd' },
    { file: 'tools/b.ts', place: 'line 9', rule: 'is gone' },
    { file: 'tools/c.ts', place: 'inputSchema', rule: 'must be an object' },
    { file: 'server.yaml', place: '', rule: 'cannot be read' }
  ]
  t.equal(show({ level: 50, msg: 'not reloaded', catalog, problems, err: { message: 'all again' } }), [
    '03:04:05 error: not reloaded',
    '  tools/a.ts:2 Unexpected token',
    '    2 | const a = = 1',
    '                  ^',
    '  tools/a.ts:1 is odd',
    '    1 | one',
    '  tools/b.ts:9 is gone',
    '  tools/c.ts: inputSchema: must be an object',
    '  server.yaml: cannot be read',
    ''
  ].join('\n'))
})

t.test('a text that is no line of the log stays as it is', async (t) => {
  t.equal(toPeople('plain text\n'), 'plain text\n')
})
