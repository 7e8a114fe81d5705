import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { within } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'
import { call, toolsModule } from './tools-module.ts'

t.test('an output that does not match is an internal error, and the log says why (128)', async (t) => {
  const outputSchema =
    "outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }"
  const marker = 'marker-4711'
  const broken = {
    wrong: { options: outputSchema, run: `() => ({ sum: '${marker}' })` },
    wrong_later: { options: outputSchema, run: `async () => ({ sum: '${marker}' })` },
    missing: { options: outputSchema, run: '() => undefined' },
    wrong_by_hand: {
      options: outputSchema, run: `() => toolResult({ structuredContent: { sum: '${marker}' } })`
    },
    missing_by_hand: { options: outputSchema, run: '() => toolResult({ content: [] })' },
    bad_block: { run: `() => ({ content: [{ type: 'text', txt: '${marker}' }] })` },
    bad_base64: {
      run: `() => ({ content: [{ type: 'image', data: '${marker}!', mimeType: 'image/png' }] })`
    },
    bad_padding: { run: "() => ({ content: [{ type: 'audio', data: 'abcde', mimeType: 'audio/wav' }] })" },
    bad_type: { run: "() => ({ content: [{ type: 'image', data: '', mimeType: 'banana' }] })" },
    bad_link: { run: "() => ({ content: [{ type: 'resource_link', uri: 'a', name: 'a' }] })" },
    bad_resource: {
      run: "() => ({ content: [{ type: 'resource', resource: { uri: 'x:a', blob: 'AA' } }] })"
    },
    bad_time: {
      run: `() => ({
        content: [{ type: 'text', text: '', annotations: { lastModified: '2025-99-99whatever' } }]
      })`
    },
    bad_error: {
      run: "() => { throw new ToolError('a', { content: [{ type: 'image', data: 'a', mimeType: 'a/b' }] }) }"
    },
    bad_role: {
      run: `() => toolResult({
        content: [{ type: 'text', text: '${marker}', annotations: { audience: ['nobody'] } }]
      })`
    },
    no_json: { run: '() => 1n' },
    circular: { run: '() => { const a = {}; a.a = a; return a }' }
  }
  const log = createReadableLog()
  const app = await buildApp(t, { 'tools/a.ts': toolsModule(broken) }, { logger: log.logger })
  for (const name of Object.keys(broken)) {
    const { status, response } = await send(app, call(name))
    t.equal(status, 200)
    t.match(response, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }, name)
    const line = log.lines.find(({ name: subject, err }) => subject === name && err !== undefined)
    t.ok(line?.err.message, `the log says of ${name}: ${String(line?.err.message)}`)
  }
  t.match(
    log.lines.find(({ name, err }) => name === 'wrong' && err !== undefined).err.message,
    /sum: must be number/
  )
})

t.test('an output that JSON would lose is an internal error, and the log says where it is', async (t) => {
  const outputSchema = "outputSchema: { type: 'object', properties: { items: {} } }"
  const lossy = {
    price: { run: '() => ({ items: [0, 1, 2, { price: 1n }] })' },
    price_by_hand: { run: '() => toolResult({ structuredContent: { items: [0, 1, 2, { price: 1n }] } })' },
    price_checked: { options: outputSchema, run: 'async () => ({ items: [0, 1, 2, { price: 1n }] })' }
  }
  const log = createReadableLog()
  const at = '() => ({ at: new Date(0), note: undefined })'
  const time = "outputSchema: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }"
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({ ...lossy, at: { run: at }, at_checked: { options: time, run: at } })
  }, { logger: log.logger })
  for (const name of Object.keys(lossy)) {
    t.equal((await send(app, call(name))).response.error.code, -32603)
    const { message } = log.lines.find(({ name: subject, err }) => subject === name && err !== undefined).err
    t.match(message, /^tools\/a\.ts: .* \/items\/3\/price: a bigint has no JSON form; return a string or a number$/)
  }
  for (const name of ['at', 'at_checked']) {
    const { structuredContent } = (await send(app, call(name))).response.result
    t.strictSame(structuredContent, { at: '1970-01-01T00:00:00.000Z' }, 'a date is sent in its JSON form')
  }
})

t.test('a result with isError is not checked against the output schema (129)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      failed: {
        options: "outputSchema: { type: 'object', required: ['sum'] }",
        run: "() => toolResult({ isError: true, content: [{ type: 'text', text: 'no sum today' }] })"
      },
      threw: {
        options: "outputSchema: { type: 'object', required: ['sum'] }",
        run: "() => { throw new ToolError('no sum today') }"
      }
    })
  })
  for (const name of ['failed', 'threw']) {
    t.match((await send(app, call(name))).response.result, {
      isError: true, content: [{ text: 'no sum today' }]
    })
  }
})

t.test('a tool error is a result that the model can act on, with all its content (124)', async (t) => {
  const log = createReadableLog()
  const link = { type: 'resource_link', uri: 'file:///rates.md', name: 'rates' }
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      at_once: {
        run: `() => {
          throw new ToolError('No such book.', {
            content: [${JSON.stringify(link)}], cause: new Error('the secret cause')
          })
        }`
      },
      later: {
        run: `async () => { throw new ToolError('No such book.', { content: [${JSON.stringify(link)}] }) }`
      }
    })
  }, { logger: log.logger })
  for (const name of ['at_once', 'later']) {
    const { status, response: { result: { _meta, ...result } } } = await send(app, call(name))
    t.equal(status, 200)
    t.strictSame(result, {
      resultType: 'complete',
      content: [
        { type: 'text', text: 'No such book.' }, link, { type: 'text', text: 'Resource rates: file:///rates.md' }
      ],
      isError: true
    })
  }
  t.match(
    log.lines.find(({ err }) => err !== undefined), { tool: 'at_once', err: { message: 'the secret cause' } },
    'the log has the cause'
  )
})

t.test('an unexpected exception goes to the log, and the client learns nothing of it (254)', async (t) => {
  const secret = 'postgres://admin:hunter2@db'
  const failing = {
    at_once: { run: `() => { throw new Error('${secret}') }` },
    later: { run: `async () => { throw new TypeError('x', { cause: new Error('${secret}') }) }` },
    text: { run: `() => { throw '${secret}' }` },
    object: { run: `() => Promise.reject({ message: '${secret}', code: -32000, httpStatus: 418 })` },
    nothing: { run: '() => { throw undefined }' },
    disguised: {
      run: `() => {
        throw Object.assign(new Error('${secret}'), { code: -32602, data: '${secret}', statusCode: 400 })
      }`
    }
  }
  const log = createReadableLog()
  const app = await buildApp(t, { 'tools/a.ts': toolsModule(failing) }, { logger: log.logger })
  for (const name of Object.keys(failing)) {
    const { status, headers, response } = await send(app, call(name))
    t.equal(status, 200)
    const logged = log.lines.filter(({ name: subject, msg }) => subject === name && msg === 'request failed')
    t.equal(logged.length, 1)
    const { reqId: requestId } = logged[0]
    t.strictSame(response, {
      jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error', data: { requestId } }
    }, `${name}: the client learns the id under which the log has the cause`)
    t.equal(headers['x-request-id'], requestId)
    t.notMatch(JSON.stringify(headers), 'hunter2')
    if (name !== 'nothing') {
      t.match(JSON.stringify(logged[0].err), /hunter2/, `the log has why ${name} failed`)
    }
  }
})

t.test('a callback of `once` beside a question is stopped in time if it never settles', async (t) => {
  const asking = (body: string) => `
    import { defineTool, roots } from 'trivet'
    const never = () => new Promise(() => {})
    export default defineTool({ name: 'a', description: 'Asks.', timeoutMs: 50, run: ${body} })`
  for (const body of [
    'async (_, ctx) => await Promise.all([ctx.ask({ a: roots() }), ctx.once("k", never)])',
    'async (_, ctx) => await Promise.all([ctx.once("k", never), ctx.ask({ a: roots() })])',
    '(_, ctx) => { ctx.once("k", never); ctx.ask({ a: roots() }); return "at once" }',
    '(_, ctx) => { ctx.once("k", never); ctx.ask({ a: roots() }); throw new Error("at once") }'
  ]) {
    const app = await buildApp(t, { 'tools/a.ts': asking(body) })
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }
    const { response } = await within(send(app, { ...call('a'), meta }), body)
    t.match(response.result, { isError: true, content: [{ text: /50 ms/ }] }, body)
  }
})
