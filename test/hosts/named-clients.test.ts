// Clients that server.yaml calls plain, by the name in their `clientInfo`.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createService } from '../../src/app/app.ts'
import { buildApp, listen } from '../helpers/app.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { QUIET } from '../helpers/quiet-options.ts'
import { send, type Message } from '../helpers/request.ts'
import { LEGACY_REVISIONS, SessionClient } from '../helpers/session.ts'
import { callOf, textOf } from './plain-client.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit, sample } from 'trivet'
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const schema = { type: 'object', properties: { size: { type: 'string', enum: ['S', 'L'] } } }
    const ask = async (_, ctx) => {
      const { size } = await ctx.ask({ size: elicit.form({ message: 'Which?', schema }) })
      return size.action
    }
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }]
    export default [
      define('asks', ask, { relayQuestions: true }),
      define('needs', () => 'ok', { requiredCapabilities: { elicitation: { form: {} } } }),
      define('bakes', () => 'baked', { task: 'required' }),
      define('sleeps', async (_, ctx) => {
        await ctx.sleep(3_000_000)
        return 'slept'
      }, { task: 'allowed' }),
      define('samples', async (_, ctx) => {
        await ctx.ask({ a: sample({ messages, maxTokens: 1 }) })
        return 'sampled'
      }),
      define('client', (_, ctx) => JSON.stringify([ctx.client.info.name, ctx.client.capabilities]))
    ]`,
  'server.yaml': 'clients: [{ name: nobody, plain: true }, { name: somebody, plain: false }]'
}
const TASKS = 'io.modelcontextprotocol/tasks'
const CAPABILITIES = {
  elicitation: { form: {}, url: {} }, sampling: {}, extensions: { [TASKS]: {}, 'example.com/other': { a: 1 } }
}
const PLAIN = { sampling: {}, extensions: { 'example.com/other': { a: 1 } } }
const ANSWERS = { size: { size: 'S' } }

async function serve (t: Test) {
  const app = await buildApp(t, FILES)
  const call = async (clientName: string, name: string, args: object = {}): Promise<Message> => {
    const { response } = await send(app, {
      method: 'tools/call',
      params: { name, arguments: args },
      meta: {
        'io.modelcontextprotocol/clientInfo': { name: clientName, version: '1' },
        'io.modelcontextprotocol/clientCapabilities': CAPABILITIES
      }
    })
    return response.result ?? response.error
  }
  return { app, call }
}

t.test('a named client of today is asked through its model, and gets no tasks (90, 282)', async (t) => {
  const { call } = await serve(t)
  const asked = await call('nobody', 'asks')
  const continued = await call('nobody', 'continue_call', { call: callOf(asked), answers: ANSWERS })
  t.equal(textOf(continued), 'accept')
  t.match(await call('nobody', 'needs'), { code: -32021 })
  t.match(await call('nobody', 'bakes'), { code: -32021 })
  t.equal((await call('nobody', 'samples')).resultType, 'input_required', 'the rest is as declared')
  t.strictSame(JSON.parse(textOf(await call('nobody', 'client'))), ['nobody', PLAIN])
})

t.test('all other names are served as they declare (90)', async (t) => {
  const { call } = await serve(t)
  for (const name of ['somebody', 'Nobody', 'nobody ', 'nobody2', '']) {
    t.equal((await call(name, 'asks')).resultType, 'input_required', name)
    t.equal((await call(name, 'bakes')).resultType, 'task', name)
    t.equal(textOf(await call(name, 'needs')), 'ok', name)
  }
})

t.test('a named client of an earlier revision is asked through its model too (331)', async (t) => {
  const { app } = await serve(t)
  const url = await listen(app)
  for (const revision of LEGACY_REVISIONS) {
    const client = new SessionClient(t, url, { revision })
    const { headers } = await client.request('initialize', {
      protocolVersion: revision, capabilities: CAPABILITIES, clientInfo: { name: 'nobody', version: '1' }
    })
    client.token = String(headers['mcp-session-id'])
    const asked = await client.call('asks')
    t.equal(asked.messages.length, 1, 'no question is sent')
    const { result } = await client.call('continue_call', { call: callOf(asked.result), answers: ANSWERS })
    t.equal(textOf(result), 'accept', revision)
    t.match((await client.call('needs')).result, { isError: true })
  }
})

t.test('a client that becomes plain by a reload still has its tasks (293, 298)', async (t) => {
  const catalog = await writeCatalog(t, { ...FILES, 'server.yaml': 'clients: []' })
  const service = await createService({ catalog, ...QUIET, constants: { taskGraceMs: 50 } })
  t.teardown(async () => await service.close())
  const ask = async (method: string, params: object, capabilities: object = CAPABILITIES) => {
    const meta = {
      'io.modelcontextprotocol/clientInfo': { name: 'nobody', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities
    }
    const { response } = await send(service.app, { method, params: { ...params }, meta })
    return response.result ?? response.error
  }
  const sleeping = await ask('tools/call', { name: 'sleeps' })
  const asking = await ask('tools/call', { name: 'bakes' })
  const before = service.catalog.current
  await writeFile(join(catalog, 'server.yaml'), FILES['server.yaml'])
  service.reload()
  await until(() => service.catalog.current !== before, 'the reload')

  t.match(await ask('tasks/get', { taskId: sleeping.taskId }), { status: 'working' })
  t.match(await ask('tasks/get', { taskId: asking.taskId }), { status: 'completed' })
  t.match(await ask('tasks/cancel', { taskId: sleeping.taskId }), { resultType: 'complete' })
  t.match(await ask('tasks/get', { taskId: sleeping.taskId }), { status: 'cancelled' })
  t.match(await ask('tasks/get', { taskId: sleeping.taskId }, PLAIN), { code: -32021 }, 'it declares none')
  const filter = { notifications: { taskIds: [sleeping.taskId] } }
  t.match(await ask('subscriptions/listen', filter, PLAIN), { code: -32021 })
  t.match(await ask('tools/call', { name: 'bakes' }), { code: -32021 }, 'it gets no others')
})
