// Every place where handlers run can call upstreams, and only those that its definition names.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { send, type Message } from '../../helpers/request.ts'
import { crmModule, startUpstream, type UpstreamServer } from './upstream-server.ts'

/** Each handler says what the upstream answers, which is the path. */
function filesFor ({ url }: UpstreamServer): { [file: string]: string } {
  const head = "import * as trivet from 'trivet'\nimport { crm, other } from '../lib/crm.ts'\n"
  return {
    'lib/crm.ts': `${crmModule(url)}
      export const other = defineUpstream({ name: 'other', url: 'https://x/', auth: { type: 'none' } })
      export const ask = async (ctx, path) => await (await ctx.fetch(crm, path)).text()`,
    'tools/a.ts': `${head}import { ask } from '../lib/crm.ts'
      export default trivet.defineTool({
        name: 'a', upstreams: [crm], authorize: async (_p, _a, ctx) => await ask(ctx, 'authorize') !== '',
        inputSchema: { type: 'object' }, run: async ({ uri }, ctx) => uri === undefined
          ? await ask(ctx, 'tool') : (await ctx.readResource(uri))[0].text
      })
      export const wrong = trivet.defineTool({
        name: 'wrong', upstreams: [crm],
        run: async (_, ctx) => await ctx.fetch(other, 'x').catch((error) => error.name + ': ' + error.message)
      })
      export const odd = trivet.defineTool({
        name: 'odd',
        async run (_, ctx) {
          const say = (error) => error.name + ': ' + error.message
          const uses = []
          try { ctx.use(crm) } catch (error) { uses.push(say(error)) }
          await ctx.fetch({ name: 'crm' }, 'x').catch((error) => uses.push(say(error)))
          const late = trivet.defineUpstream({ name: 'late', url: 'https://x/', auth: { type: 'none' } })
          await ctx.fetch(late, 'x').catch((error) => uses.push(say(error)))
          return uses.join('; ')
        }
      })`,
    'prompts/p.ts': `${head}import { ask } from '../lib/crm.ts'
      export default trivet.definePrompt({
        name: 'p', upstreams: [crm],
        arguments: [{ name: 'x', complete: async (_, ctx) => [await ask(ctx, 'complete')] }],
        render: async (_, ctx) => await ask(ctx, 'prompt')
      })`,
    'resources/r.resource.ts': `${head}import { ask } from '../lib/crm.ts'
      export const fixed = trivet.defineResource({
        uri: 'r://fixed', name: 'fixed', upstreams: [crm], read: async (ctx) => await ask(ctx, 'resource')
      })
      export const template = trivet.defineResourceTemplate({
        uriTemplate: 'r://{id}/x', name: 'template', upstreams: [crm],
        complete: { id: async (_, ctx) => [await ask(ctx, 'complete-id')] },
        list: async (ctx) => [{ variables: { id: (await ask(ctx, 'list')).slice(5) }, name: 'listed' }],
        read: async (_, ctx) => await ask(ctx, 'template')
      })
      export const narrow = trivet.defineResource({
        uri: 'r://narrow', name: 'narrow', upstreams: [],
        read: async (ctx) => await ask(ctx, 'x').catch(String)
      })`
  }
}

t.test('tools, prompts, resources, lists and completions call upstreams', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => response.end(url))
  const app = await buildApp(t, filesFor(upstream))
  const result = async (method: string, params: { readonly [key: string]: unknown }): Promise<Message> => {
    const { response } = await send(app, { method, params })
    return response.result ?? response.error
  }
  const call = async (name: string, args = {}) => {
    return (await result('tools/call', { name, arguments: args })).content[0].text
  }
  t.equal(await call('a'), '/api/tool')
  t.equal(await call('a', { uri: 'r://fixed' }), '/api/resource')
  t.match(await call('a', { uri: 'r://narrow' }), 'TypeError: fetch: crm is not in the field upstreams')
  t.equal(await call('wrong'), 'TypeError: fetch: other is not in the field upstreams of this definition')
  const odd = (await call('odd')).split('; ')
  t.match(odd, [
    /^Error: Unknown dependency "crm"/, 'TypeError: fetch: the first argument must be an upstream',
    /^Error: Unknown upstream "late"/
  ])
  t.equal((await result('prompts/get', { name: 'p' })).messages[0].content.text, '/api/prompt')
  t.equal((await result('resources/read', { uri: 'r://fixed' })).contents[0].text, '/api/resource')
  t.equal((await result('resources/read', { uri: 'r://7/x' })).contents[0].text, '/api/template')
  const { resources } = await result('resources/list', {})
  t.ok(resources.some(({ uri }: Message) => uri === 'r://list/x'))
  const complete = async (ref: object, name: string) => (await result('completion/complete', {
    ref, argument: { name, value: '' }
  })).completion.values
  t.strictSame(await complete({ type: 'ref/prompt', name: 'p' }, 'x'), ['/api/complete'])
  t.strictSame(await complete({ type: 'ref/resource', uri: 'r://{id}/x' }, 'id'), ['/api/complete-id'])
})

t.test('a prompt whose upstream fails tells the client the message', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/list') response.end('xxxxx7')
    else response.destroy()
  })
  const app = await buildApp(t, filesFor(upstream))
  const requests = [
    { method: 'prompts/get', params: { name: 'p' } },
    { method: 'resources/read', params: { uri: 'r://fixed' } }
  ]
  for (const { method, params } of requests) {
    const { response } = await send(app, { method, params })
    t.match(response.error.message, 'The service crm could not be reached, or broke off its answer.')
  }
})

t.test('a catalog with wrong upstreams does not load', async (t) => {
  const load = async (text: string) => await buildApp(t, {
    'tools/a.ts': `
    import { defineTool, defineUpstream } from 'trivet'
    const auth = { type: 'none' }
    ${text}
  `
  }).then(() => 'it loads', (error: Error) => error.message)
  const tool = 'export default defineTool({ name: "a", run: () => "x", upstreams })'
  t.match(await load(`const upstreams = [{ name: 'crm' }]; ${tool}`),
    'tools/a.ts: upstreams[0]: must be made by defineUpstream in a module of this catalog')
  t.match(await load(`const upstreams = 7; ${tool}`), /upstreams/)
  t.match(await load(`
    const one = defineUpstream({ name: 'crm', url: 'https://x/', auth })
    const two = defineUpstream({ name: 'crm', url: 'https://y/', auth })
    const upstreams = [one]; ${tool}`), 'the upstream "crm" is already defined')
  t.match(await load(`
    export const crm = defineUpstream({ name: 'crm', url: 'https://x/', auth: { type: 'claims' } })
    const upstreams = [crm]; ${tool}`),
  "tools/a.ts: crm.auth: failed: auth.type is 'claims', which needs headers or jwt")
  t.equal(await load(`
    const upstreams = [defineUpstream({ name: 'crm', url: 'https://x/', auth })]; ${tool}`), 'it loads')
})

t.test('a catalog whose list fails at its upstream does not load', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.destroy())
  const message = /list: failed: The service crm could not be reached/
  await t.rejects(buildApp(t, filesFor(upstream)), { message })
})
