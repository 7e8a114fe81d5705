import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { authenticator } from '../../catalog/compiled/scoped-catalog.ts'
import { buildApp } from '../../helpers/app.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { META, send, type Message } from '../../helpers/request.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit, ToolError } from 'trivet'
    globalThis.authorized = []
    const inputSchema = {
      type: 'object', properties: { id: { type: 'string', default: 'mine' } }
    }
    const define = (name, authorize, run = () => 'done') => defineTool({ name, inputSchema, authorize, run })
    const asks = async (_, ctx) => {
      const { ok } = await ctx.ask({ ok: elicit.form({
        message: 'Sure?', schema: { type: 'object', properties: { yes: { type: 'boolean' } } }
      }) })
      return ok.action
    }
    export default [
      define('owns', ({ subject }, { id }) => {
        globalThis.authorized.push(id)
        return subject === 'someone' && id === 'mine'
      }),
      define('later', async ({ scopes }, _, ctx) => scopes.has('a') || 'There is no order for ' + ctx.revision),
      define('refuses', () => { throw new ToolError('Closed today.') }),
      define('breaks', () => { throw new Error('secret') }),
      define('breaks_later', async () => { throw new Error('secret') }),
      define('forgets', () => {}),
      define('asks', (_, args) => { globalThis.authorized.push(args.id); return true }, asks)
    ]`
}

const authorized = (): string[] => Reflect.get(globalThis, 'authorized')

async function build (t: Test): Promise<FastifyInstance> {
  return await buildApp(t, FILES, { authenticator })
}

async function call (
  app: FastifyInstance, name: string, args: object = {}, rest: object = {}, authorization = ''
): Promise<Message> {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    'io.modelcontextprotocol/clientInfo': META['io.modelcontextprotocol/clientInfo']
  }
  const params = { name, arguments: args, ...rest }
  return (await send(app, { method: 'tools/call', params, meta, headers: { authorization } })).response
}

t.test('a tool decides itself who may call it with which arguments (140)', async (t) => {
  const app = await build(t)
  t.equal((await call(app, 'owns')).result.content[0].text, 'done', 'with the defaults of the schema')
  const refused = (await call(app, 'owns', { id: 'theirs' })).result
  t.match(refused, { isError: true, content: [{ type: 'text', text: /not allowed to use owns with these/ }] })
  t.match((await call(app, 'later')).result, {
    isError: true, content: [{ text: 'There is no order for 2026-07-28' }]
  })
  t.equal((await call(app, 'later', {}, {}, 'a')).result.content[0].text, 'done')
  t.match((await call(app, 'refuses')).result, { isError: true, content: [{ text: 'Closed today.' }] })
})

t.test('is not asked about arguments that are not valid', async (t) => {
  const app = await build(t)
  t.match((await call(app, 'owns', { id: 5 })).result, { isError: true })
  t.strictSame(authorized(), [])
})

t.test('what it throws, or returns by mistake, allows nothing and tells nothing', async (t) => {
  const log = createReadableLog('info')
  const app = await buildApp(t, FILES, { authenticator, logger: log.logger })
  for (const name of ['breaks', 'breaks_later', 'forgets']) {
    const { error } = await call(app, name)
    t.match(error, { code: -32603, message: 'Internal error', data: { requestId: String } }, name)
  }
})

t.test('is asked again in each round', async (t) => {
  const app = await build(t)
  const first = (await call(app, 'asks', { id: 'x' })).result
  t.equal(first.resultType, 'input_required')
  const rest = {
    inputResponses: { ok: { action: 'accept', content: { yes: true } } },
    ...(first.requestState !== undefined && { requestState: first.requestState })
  }
  t.equal((await call(app, 'asks', { id: 'x' }, rest)).result.content[0].text, 'accept')
  t.strictSame(authorized(), ['x', 'x'])
})

t.test('must be a function', async (t) => {
  t.match(await problemsOf(t, {
    'tools/a.ts': "import { defineTool } from 'trivet'\n" +
      "export default defineTool({ name: 'a', authorize: true, run: () => '' })"
  }), [{ file: 'tools/a.ts', place: 'authorize', rule: 'must be a function' }])
})
