// Calls whose arguments came as models send them.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'

const call = (name: string, args: object) => ({ method: 'tools/call', params: { name, arguments: args } })

const SCHEMA = `inputSchema: {
  type: 'object',
  properties: {
    ids: { type: 'array', items: { type: 'integer' } }, count: { type: 'integer', maximum: 9, default: 1 },
    force: { type: 'boolean' }, filter: { type: 'object', properties: { tag: { type: 'string' } } },
    note: { type: 'string' }
  },
  additionalProperties: false
}`
const READ_ONLY = 'annotations: { readOnlyHint: true }'
const ECHO = '(args) => ({ args })'

async function callWith (t: Parameters<typeof buildApp>[0], args: object, options = '', yaml = '') {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', `${SCHEMA}${options === '' ? '' : `, ${options}`}`, ECHO),
    ...yaml !== '' && { 'server.yaml': yaml }
  })
  const { response: { result } } = await send(app, call('a', args))
  return result.structuredContent?.args ?? result.content[0].text
}

t.test('the handler gets repaired arguments (124)', async (t) => {
  t.strictSame(
    await callWith(t, { ids: '[1,"2"]', count: '5', filter: '{"tag":"5"}', note: null }),
    { ids: [1, 2], count: 5, filter: { tag: '5' } }
  )
  t.strictSame(await callWith(t, { count: null, note: '5' }), { note: '5', count: 1 }, 'null, and a default')
})

t.test('booleans are repaired for tools that only read', async (t) => {
  t.match(await callWith(t, { force: 'true' }), /force: must be boolean, got "true"/)
  t.match(await callWith(t, { force: 'true' }, READ_ONLY), { force: true })
})

t.test('the problems are those of the repaired arguments (124, 126)', async (t) => {
  const text = await callWith(t, { ids: '["x"]', count: '50', note: 5 })
  t.strictSame(text.split('\n').toSorted(), [
    '- count: must be <= 9, got 50', '- ids[0]: must be integer, got "x"', '- note: must be string, got 5',
    'Invalid arguments for a:'
  ])
})

t.test('strict arguments stay as they came: in server.yaml, and a tool wins', async (t) => {
  t.match(await callWith(t, { count: '5' }, '', 'arguments: strict\n'), /count: must be integer, got "5"/)
  t.match(await callWith(t, { count: '5' }, "arguments: 'strict'"), /count: must be integer, got "5"/)
  t.match(await callWith(t, { count: '5' }, "arguments: 'repair'", 'arguments: strict\n'), { count: 5 })
  t.match(await callWith(t, { count: '5' }, "arguments: 'strict'", 'arguments: repair\n'), /must be integer/)
  await t.rejects(buildApp(t, { 'tools/a.ts': toolModule('a', "arguments: 'maybe'") }), /arguments.*must be one of/)
  await t.rejects(
    buildApp(t, { 'tools/a.ts': toolModule('a'), 'server.yaml': 'arguments: no\n' }), /arguments.*must be one of/
  )
})

t.test('limits measure what came, and the depth of what it becomes', async (t) => {
  const limits = 'limits: { argumentDepth: 2, argumentBytes: 30 }'
  t.match(await callWith(t, { ids: '[1]' }, limits), { ids: [1] })
  t.match(await callWith(t, { ids: '[1]' }, 'limits: { argumentDepth: 1 }'), /nested 1 levels deep/)
  t.match(await callWith(t, { ids: '[1,2,3,4,5,6,7,8,9,10]' }, limits), /30 bytes/)
})

t.test('the log tells the places at debug, and no value', async (t) => {
  const { logger, lines } = createReadableLog('debug')
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a', SCHEMA, ECHO) }, { logger })
  await send(app, call('a', { ids: '[271828182845904]', filter: '{"tag":null}' }))
  await send(app, call('a', { ids: '["x"]' }))
  const told = lines.filter(({ msg }) => msg === 'arguments repaired')
  t.match(told, [{ tool: 'a', places: ['ids', 'filter', 'filter/tag'], level: 20 }])
  t.equal(told.length, 1)
  t.notMatch(JSON.stringify(told), /271828182845904/)
})

t.test('a repair of too many values is given up, and the log tells so at debug', async (t) => {
  const { logger, lines } = createReadableLog('debug')
  const row = "{ type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } }"
  const schema = `inputSchema: { type: 'object', properties: { rows: { type: 'array', items: ${row} } } }`
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a', schema, '() => "ok"') }, { logger })
  for (const [count, isRepaired] of [[400, true], [20_000, false]] as const) {
    const rows = JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}` })))
    const { response } = await send(app, call('a', { rows }))
    t.equal(response.result.isError, isRepaired ? undefined : true, `${count} rows`)
  }
  t.strictSame(
    lines.filter(({ msg }) => msg.startsWith('arguments ')).map(({ msg, tool }) => `${tool}: ${msg}`),
    ['a: arguments repaired', 'a: arguments not repaired: too many values']
  )
})

t.test('schemas of libraries: only what they refuse is repaired, and they check again', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': `import { defineTool } from 'trivet'
import * as z from '${import.meta.resolve('zod')}'
export default defineTool({
  name: 'a',
  annotations: { readOnlyHint: true },
  inputSchema: z.object({
    ids: z.array(z.number()).max(2), own: z.coerce.boolean(), twice: z.preprocess((n) => n + n, z.string()),
    note: z.string().optional()
  }),
  run: (args) => ({ args })
})`
  })
  const { response } = await send(app, call('a', { ids: '["1",2]', own: 'false', twice: '5', note: null }))
  t.strictSame(response.result.structuredContent, { args: { ids: [1, 2], own: true, twice: '55' } })
  const refused = await send(app, call('a', { ids: '[1,2,3]', own: 'false', twice: '5' }))
  t.match(refused.response.result, { isError: true, content: [{ text: /ids: Too big/ }] })
})

t.test('what a header mirrors is compared and checked as it came (37, 124)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', `inputSchema: {
    type: 'object',
    properties: {
      count: { type: 'integer', 'x-mcp-header': 'Count' }, other: { type: 'integer' },
      target: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } }
    }
  }`, ECHO)
  })
  const textOf = async (args: object, headers = {}) => {
    const { response: { result } } = await send(app, { ...call('a', args), headers })
    return result.content[0].text
  }
  t.match(await textOf({ count: '5', other: '5' }, { 'mcp-param-count': '5' }), /- count: must be integer, got "5"$/)
  t.match(await textOf({ target: '{"zone":"x"}' }), /- target: must be object/)
  t.match(await textOf({ count: null }), /- count: must be integer, got null/)
})

const ASKS = `import { defineTool, elicit } from 'trivet'
const schema = { type: 'object', properties: { sure: { type: 'boolean' } } }
export default defineTool({
  name: 'asks', ${SCHEMA}, authorize: (_, { count }) => count === 5,
  async run (args, ctx) {
    const { ok } = await ctx.ask({ ok: elicit.form({ message: 'Sure?', schema }) })
    return { args, ok }
  }
})`

t.test('request state is bound to the repaired form, and people\'s answers stay as they are', async (t) => {
  const app = await buildApp(t, { 'tools/asks.ts': ASKS })
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  const ask = async (args: object, more: object = {}) => (await send(app, {
    method: 'tools/call', params: { name: 'asks', arguments: args, ...more }, meta
  })).response
  const { result: { requestState } } = await ask({ count: '5' })
  const answer = (content: object) => ({
    ...requestState !== undefined && { requestState }, inputResponses: { ok: { action: 'accept', content } }
  })
  for (const count of ['5', 5]) {
    const { result } = await ask({ count }, answer({ sure: true }))
    t.match(result.structuredContent, { args: { count: 5 }, ok: { content: { sure: true } } })
  }
  t.notMatch(JSON.stringify(await ask({ count: '5' }, answer({ sure: 'true' }))), /"content":\{"sure":true\}/)
  t.match((await ask({ count: '6' })).result.content[0].text, /not allowed/, 'authorize gets the repaired form')
})

t.test('a repeated call is the same in texts and in values', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'a', `${SCHEMA}, dedupe: true, annotations: { idempotentHint: true }`, '() => String(Math.random())'
    )
  })
  const textOf = async (args: object) => {
    const { response } = await send(app, { ...call('a', args), headers: { 'idempotency-key': 'k' } })
    return response.result.content[0].text
  }
  const first = await textOf({ count: '5' })
  t.equal(await textOf({ count: '5' }), first)
  t.equal(await textOf({ count: 5, note: null }), first)
  t.match(await textOf({ count: '6' }), /other arguments/)
})

t.test('a task keeps the repaired form, and continue_call is repaired too', async (t) => {
  const run = `async (args, ctx) => {
    await ctx.step('first', () => 1)
    return { args, ok: await ctx.ask({ ok: elicit.form({ message: 'Sure?', schema }) }) }
  }`
  const app = await buildApp(t, {
    'tools/a.ts': `import { elicit } from 'trivet'
const schema = { type: 'object', properties: { sure: { type: 'boolean' } } }
${toolModule('a', `${SCHEMA}, task: 'allowed', relayQuestions: true, onReplicaLoss: 'rerun'`, run)}`
  })
  const textOf = async (name: string, args: object) =>
    (await send(app, call(name, args))).response.result.content[0].text
  const asked = await textOf('a', { count: '5', note: null })
  const [id = ''] = /task_[\w.-]+/.exec(asked) ?? []
  const result = await textOf('continue_call', {
    call: id, answers: '{"ok":{"sure":true}}', decline: null, cancel: null
  })
  t.match(result, /"count":5/)
  t.match(result, /"sure":true/)
})
