// Bodies that are refused before a method is looked up.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { META, readMessages, toPost } from '../../helpers/request.ts'

t.test('bodies', async (t) => {
  const app = await buildApp(t, {}, { maxBodyBytes: 2048 })

  /** Posts the body with the headers of a conforming `tools/list`. */
  async function postBody (body: string | Buffer) {
    const { headers } = toPost({ method: 'tools/list' })
    const answer = await app.inject({ method: 'POST', url: '/mcp', headers, body })
    return {
      status: answer.statusCode,
      response: readMessages(answer.body, String(answer.headers['content-type'])).at(-1)
    }
  }

  t.test('refuses a request without params or _meta (78)', async (t) => {
    for (const params of [undefined, {}, { _meta: null }, { _meta: { progressToken: 1 } }]) {
      const { status, response } = await postBody(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })
      )
      t.equal(status, 400)
      t.match(response, { id: 1, error: { code: -32602 } })
    }
  })

  const unreadable: ReadonlyArray<readonly [claim: string, body: string | Buffer]> = [
    ['no JSON', '{"jsonrpc":'],
    ['no body', ''],
    ['two values', '{}{}'],
    ['a comment', '// x\n{}'],
    ['bytes that are no UTF-8 (8)', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    [
      'a key that reaches the prototype',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"__proto__":{"x":1}}}'
    ],
    ['a key that reaches the constructor', '{"constructor":{"prototype":{"x":1}}}'],
    ['an escaped key that reaches the prototype', '{"\\u005f_proto__":{"x":1}}']
  ]

  for (const [claim, body] of unreadable) {
    t.test(`refuses ${claim} as a parse error without an id (58)`, async (t) => {
      const { status, response } = await postBody(body)
      t.equal(status, 400)
      t.match(response, { jsonrpc: '2.0', error: { code: -32700 } })
      t.notOk('id' in response)
    })
  }

  t.test('other errors have stacks after each body', async (t) => {
    const { stackTraceLimit } = Error
    for (const body of ['{"jsonrpc":', '', 'null', '{}']) {
      await postBody(body)
      t.equal(Error.stackTraceLimit, stackTraceLimit)
    }
  })

  t.test('the log has one line for a body that is no JSON, and the cause where it says more', async (t) => {
    const log = createReadableLog('info')
    const app = await buildApp(t, {}, { logger: log.logger })
    const { headers } = toPost({ method: 'tools/list' })
    const post = async (body: string | Buffer) => (
      await app.inject({ method: 'POST', url: '/mcp', headers, body })
    )
    const line = { level: 30, msg: 'request', status: 400, code: -32700, reason: /not valid JSON/ }
    for (const body of ['{"jsonrpc":', '{"\\u0041":', '', '{"__proto__":{}}']) await post(body)
    t.match(log.lines, [line, line, line, line])
    await post(Buffer.from([0x22, 0xff, 0x22]))
    t.match(log.lines.slice(4), [{ level: 40, msg: 'request refused', err: 'not UTF-8' }, line])
  })

  t.test('refuses a body over the limit with 413 and an error without an id (46)', async (t) => {
    const answer = await postBody(JSON.stringify({ pad: 'x'.repeat(2048) }))
    t.equal(answer.status, 413)
    t.match(answer.response.error, { code: -32600, message: /2048 bytes/ })
    t.notOk('id' in answer.response)
  })

  const shapeless: ReadonlyArray<readonly [claim: string, body: unknown]> = [
    ['a batch (9)', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]],
    ['an empty batch (9)', []],
    ['a null id (52)', { jsonrpc: '2.0', id: null, method: 'tools/list', params: { _meta: META } }],
    ['a fractional id (52)', { jsonrpc: '2.0', id: 1.5, method: 'tools/list', params: { _meta: META } }],
    ['a boolean id (52)', { jsonrpc: '2.0', id: false, method: 'tools/list', params: { _meta: META } }],
    ['a notification with params in a list (11)', { jsonrpc: '2.0', method: 'notifications/x', params: [] }],
    ['a string', 'tools/list'],
    ['null', null]
  ]

  for (const [claim, body] of shapeless) {
    t.test(`refuses ${claim} as an invalid request without an id (57, 58)`, async (t) => {
      const { status, response } = await postBody(JSON.stringify(body))
      t.equal(status, 400)
      t.equal(response.error.code, -32600)
      t.notOk('id' in response)
    })
  }

  t.test('refuses a posted response without an id (9)', async (t) => {
    for (const body of [
      { jsonrpc: '2.0', id: 1, result: {} }, { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }
    ]) {
      const { status, response } = await postBody(JSON.stringify(body))
      t.equal(status, 400)
      t.match(response.error, { code: -32600, message: /does not accept responses/ })
      t.notOk('id' in response)
    }
  })
})

t.test('refuses a compressed body and another charset: 415 (8)', async (t) => {
  const app = await buildApp(t, {})
  const statusOf = async (changed: { [name: string]: string }) => {
    const { headers, body } = toPost({ method: 'tools/list' })
    return (
      await app.inject({ method: 'POST', url: '/mcp', headers: { ...headers, ...changed }, body })
    ).statusCode
  }
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    t.equal(await statusOf({ 'content-encoding': encoding }), 415, encoding)
  }
  t.equal(await statusOf({ 'content-encoding': 'identity' }), 200)
  for (const charset of ['utf-16', '"utf-16"', 'iso-8859-1']) {
    t.equal(await statusOf({ 'content-type': `application/json; charset=${charset}` }), 415, charset)
  }
  for (const charset of ['utf-8', 'UTF-8', '"utf-8"']) {
    t.equal(await statusOf({ 'content-type': `application/json; charset=${charset}` }), 200, charset)
  }
})

t.test('lists of numbers, rows and words are no heavy bodies', async (t) => {
  const app = await buildApp(t, {})
  const list = (length: number, item: (index: number) => unknown) => (
    Array.from({ length }, (_, index) => item(index))
  )
  const bodies = {
    embeddings: list(30, () => list(1536, (i) => Math.sin(i))),
    'small integers': list(200_000, (i) => i % 100),
    points: list(30_000, (i) => [i, i / 2]),
    rows: list(5000, (id) => ({ id, name: `name ${id}`, city: `${id % 100}`, on: true })),
    words: list(24_000, (i) => `word ${i}`)
  }
  for (const [name, more] of Object.entries(bodies)) {
    const { headers, body } = toPost({ method: 'tools/list', params: { more } })
    t.ok(body.length < 1_048_576, name)
    t.equal((await app.inject({ method: 'POST', url: '/mcp', headers, body })).statusCode, 200, name)
  }
})

t.test('a larger body may weigh more', async (t) => {
  const statusOf = async (maxBodyBytes: number, value: string) => {
    const app = await buildApp(t, {}, { maxBodyBytes })
    const { headers, body } = toPost({ method: 'tools/list', params: { more: 'MORE' } })
    const answer = await app.inject({
      method: 'POST', url: '/mcp', headers, body: body.replace('"MORE"', () => value)
    })
    return [answer.statusCode, JSON.parse(answer.body).error?.message]
  }
  const names = `{${Array.from({ length: 9000 }, (_, i) => `"k${i}":1`).join(',')}}`
  const values = `[${Array.from({ length: 45_000 }, () => '""').join(',')}]`
  for (const value of [names, values]) {
    t.match(await statusOf(1_048_576, value), [400, 'the body weighs more than 125000'])
    t.match(await statusOf(2_097_152, value), [200, undefined])
  }
})
