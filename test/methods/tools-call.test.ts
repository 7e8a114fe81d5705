import t from 'tap'
import { buildApp } from '../helpers/app.ts'
import { toolModule } from '../helpers/catalog-folder.ts'
import { createReadableLog } from '../helpers/log.ts'
import { send, type Answer, type Message } from '../helpers/request.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/**
 * A module of tools that take no arguments, by name, each with the text of its further members and of its
 * `run`.
 */
function toolsModule (
  tools: { readonly [name: string]: { readonly options?: string, readonly run: string } }
): string {
  const definitions = Object.entries(tools).map(([name, { options = '', run }]) =>
    `export const ${name} = defineTool({ name: '${name}', description: 'A tool.', ${options === '' ? '' : `${options}, `}run: ${run} })`)
  return ["import { defineTool, ToolError, toolResult } from 'trivet'", ...definitions].join('\n')
}

const call = (name: string, args?: object) => ({
  method: 'tools/call', params: { name, ...(args === undefined ? {} : { arguments: args }) }
})

const text = ({ response }: Answer): string => response.result.content[0].text

t.test('answers a string as a text block, an object as structured content, and nothing as no content ' +
  '(127)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      text: { run: "() => 'ok'" },
      promised: { run: "async () => 'later'" },
      thenable: { run: '() => ({ then: (resolve) => { resolve("in the end") } })' },
      empty: { run: "() => ''" },
      object: { run: '() => ({ sum: 3 })' },
      nothing: { run: '() => {}' },
      nothing_later: { run: 'async () => {}' }
    })
  })
  for (const [name, expected] of Object.entries({
    text: { content: [{ type: 'text', text: 'ok' }] },
    promised: { content: [{ type: 'text', text: 'later' }] },
    thenable: { content: [{ type: 'text', text: 'in the end' }] },
    empty: { content: [{ type: 'text', text: '' }] },
    object: { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } },
    nothing: { content: [] },
    nothing_later: { content: [] }
  })) {
    const { status, response: { result: { _meta, ...result } } } = await send(app, call(name))
    t.equal(status, 200)
    t.strictSame(result, { resultType: 'complete', ...expected }, name)
  }
})

t.test('passes on every kind of content block, with its annotations and metadata (134)', async (t) => {
  const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-07-28T00:00:00Z' }
  const content = [
    { type: 'text', text: 'a', annotations, _meta: { 'example.com/a': 1 } },
    { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav', annotations },
    {
      type: 'resource_link',
      uri: 'file:///a.md',
      name: 'a',
      title: 'A',
      description: 'An a.',
      mimeType: 'text/markdown',
      size: 3,
      annotations
    },
    {
      type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: 'a' }, annotations
    },
    { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'aGk=' } }
  ]
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      as_specified: { run: `() => (${JSON.stringify({ content })})` },
      by_hand: { run: `() => toolResult(${JSON.stringify({ content })})` },
      failed: { run: `() => (${JSON.stringify({ content, isError: true })})` }
    })
  })
  for (const name of ['as_specified', 'by_hand', 'failed']) {
    t.strictSame((await send(app, call(name))).response.result.content, content, name)
  }
  t.equal((await send(app, call('failed'))).response.result.isError, true)
})

t.test('structured content may be any JSON value, and travels with its text (128, 130, 131, 132)', async (
  t
) => {
  const values = {
    null_: null,
    false_: false,
    zero: 0,
    number: 1.5,
    text: 'a "b"\n',
    array: [1, 'a', null],
    object: { a: { b: [] } },
    empty: {}
  }
  const modules = Object.entries(values).map(([name, value]) => [
    `tools/${name}.ts`,
    toolsModule({
      [`${name}_promised`]: {
        options: 'outputSchema: { $comment: "anything" }', run: `() => (${JSON.stringify(value)})`
      },
      [`${name}_by_hand`]: { run: `() => toolResult({ structuredContent: ${JSON.stringify(value)} })` },
      [`${name}_with_image`]: {
        run: `() => toolResult({ structuredContent: ${JSON.stringify(value)}, content: [{ type: 'image', data: '', mimeType: 'image/png' }] })`
      }
    })
  ])
  const app = await buildApp(t, Object.fromEntries(modules))
  for (const [name, value] of Object.entries(values)) {
    for (const way of ['promised', 'by_hand', 'with_image']) {
      const { response: { result } } = await send(app, call(`${name}_${way}`))
      t.strictSame(result.structuredContent, value, `${name}, ${way}`)
      t.strictSame(result.content.filter(({ type }: Message) => type === 'text'), [
        { type: 'text', text: JSON.stringify(value) }
      ])
    }
  }
})

t.test('what is returned without an output schema becomes structured content too, if it is no string', async (
  t
) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      list: { run: '() => [1, 2]' },
      nil: { run: '() => null' },
      no: { run: '() => false' },
      four: { run: 'async () => 4' }
    })
  })
  for (const [name, value] of Object.entries({ list: [1, 2], nil: null, no: false, four: 4 })) {
    const { response: { result } } = await send(app, call(name))
    t.strictSame(result.structuredContent, value)
    t.strictSame(result.content, [{ type: 'text', text: JSON.stringify(value) }])
  }
})

t.test('text that the author wrote stands in for the JSON of structured content', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'a', '', "() => toolResult({ content: [{ type: 'text', text: 'three' }], structuredContent: 3 })"
    )
  })
  t.strictSame((await send(app, call('a'))).response.result.content, [{ type: 'text', text: 'three' }])
})

t.test('the metadata of a result stands beside what the service says of itself (86)', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': 'name: shop\nversion: 2.0.0\n',
    'tools/a.ts': toolsModule({
      by_hand: { run: "() => toolResult({ content: [], _meta: { 'example.com/cost': 3 } })" },
      as_specified: { run: "() => ({ content: [], _meta: { 'example.com/cost': 3 } })" }
    })
  })
  for (const name of ['by_hand', 'as_specified']) {
    t.strictSame((await send(app, call(name))).response.result._meta, {
      [SERVER_INFO]: { name: 'shop', version: '2.0.0' }, 'example.com/cost': 3
    })
  }
})

t.test('a result that breaks the tool\'s own promise is an internal error that says nothing, and the log ' +
  'says what (128)', async (t) => {
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
    bad_role: {
      run: `() => toolResult({ content: [{ type: 'text', text: '${marker}', annotations: { audience: ['nobody'] } }] })`
    },
    no_json: { run: '() => 1n' },
    circular: { run: '() => { const a = {}; a.a = a; return a }' }
  }
  const log = createReadableLog()
  const app = await buildApp(t, { 'tools/a.ts': toolsModule(broken) }, { logger: log.logger })
  for (const name of Object.keys(broken)) {
    const { status, response } = await send(app, call(name))
    t.equal(status, 200)
    t.strictSame(
      response, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }, name
    )
    const line = log.lines.find(({ name: subject, err }) => subject === name && err !== undefined)
    t.ok(line?.err.message, `the log says of ${name}: ${String(line?.err.message)}`)
  }
  t.match(
    log.lines.find(({ name, err }) => name === 'wrong' && err !== undefined).err.message,
    /sum: must be number/
  )
})

t.test('a failed result is not held to the output schema (129)', async (t) => {
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
        run: `() => { throw new ToolError('No such book.', { content: [${JSON.stringify(link)}], cause: new Error('the secret cause') }) }`
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
      resultType: 'complete', content: [{ type: 'text', text: 'No such book.' }, link], isError: true
    })
  }
  t.match(
    log.lines.find(({ err }) => err !== undefined), { tool: 'at_once', err: { message: 'the secret cause' } },
    'the cause is for the log'
  )
})

t.test('an exception that nobody meant leaks nothing to the client, and all of it to the log (254)', async (
  t
) => {
  const secret = 'postgres://admin:hunter2@db'
  const failing = {
    at_once: { run: `() => { throw new Error('${secret}') }` },
    later: { run: `async () => { throw new TypeError('x', { cause: new Error('${secret}') }) }` },
    text: { run: `() => { throw '${secret}' }` },
    object: { run: `() => Promise.reject({ message: '${secret}', code: -32000, httpStatus: 418 })` },
    nothing: { run: '() => { throw undefined }' },
    disguised: {
      run: `() => { throw Object.assign(new Error('${secret}'), { code: -32602, data: '${secret}', statusCode: 400 }) }`
    }
  }
  const log = createReadableLog()
  const app = await buildApp(t, { 'tools/a.ts': toolsModule(failing) }, { logger: log.logger })
  for (const name of Object.keys(failing)) {
    const { status, headers, response } = await send(app, call(name))
    t.equal(status, 200)
    t.strictSame(
      response, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }, name
    )
    t.notMatch(JSON.stringify(headers), 'hunter2')
    const logged = log.lines.filter(({ name: subject, msg }) => subject === name && msg === 'request failed')
    t.equal(logged.length, 1)
    if (name !== 'nothing') {
      t.match(JSON.stringify(logged[0].err), /hunter2/, `the log has why ${name} failed`)
    }
  }
})

t.test('a tool may read who asks, with what, and under which id', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', '', `(args, ctx) => {
      ctx.log.notice('seen', { step: 1 })
      return { args, scopes: [...ctx.principal.scopes], client: ctx.client, revision: ctx.revision, requestId: ctx.requestId, aborted: ctx.signal.aborted }
    }`)
  }, { logger: log.logger })
  const { response: { result: { structuredContent: seen } } } = await send(app, {
    ...call('a'), meta: { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }
  })
  t.match(seen, {
    args: {},
    scopes: [],
    client: { info: { name: 'test', version: '1.0.0' }, capabilities: { roots: {} } },
    revision: '2026-07-28',
    aborted: false
  })
  t.match(
    log.lines.find(({ msg }) => msg === 'seen'), { step: 1, reqId: seen.requestId, level: 30 },
    'what it logs stands under the id of the request'
  )
  t.equal(text(await send(app, call('a'))).includes('"aborted":false'), true)
})
