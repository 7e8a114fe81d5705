// Stand-ins for upstreams in tests of a catalog.

import t from 'tap'
import { openCatalog } from '../../../src/testing.ts'
import { defineUpstream } from '../../../src/platform/author/define-upstream.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { crmModule, startUpstream } from '../../features/upstreams/upstream-server.ts'

const TOOL = `import { defineTool, UpstreamError } from 'trivet'
  import { crm } from '../lib/crm.ts'
  export default defineTool({
    name: 'call', inputSchema: { type: 'object' },
    async run ({ path = 'customers/7', init, read = 'json' }, ctx) {
      const answer = await ctx.fetch(crm, path, init)
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer[read]() }
    }
  })`

t.test('stands for an upstream, which is not called', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('real'))
  const folder = await writeCatalog(t, {
    'lib/crm.ts': crmModule(upstream.url, "auth: { type: 'exchange' }, retry: { backoffMs: 0 }"),
    'tools/call.ts': TOOL
  })
  const catalog = await openCatalog(folder)
  t.teardown(async () => await catalog.close())

  await t.rejects(catalog.call('call'), {
    code: -32603,
    cause: {
      message: 'The upstream crm has no stand-in. Add one before the call: ' +
        "catalog.upstream('crm').answer(…), or the option upstreams of openCatalog for calls of a load."
    }
  })
  const message = 'The catalog defines no upstream "erp". It defines: crm.'
  t.throws(() => catalog.upstream('erp'), { message })

  const crm = catalog.upstream('crm').answer({ 'GET customers/7': { name: 'Ada' } })
  const ada = catalog.as({ subject: 'ada', scopes: ['crm:read'] })
  const init = { query: { q: 'a b' }, headers: { 'X-A': 'b' } }
  const { structuredContent } = await ada.call('call', { init })
  t.strictSame(structuredContent, { status: 200, type: 'application/json', body: { name: 'Ada' } })
  t.equal(crm.calls.length, 2)
  const { method, path, query, headers, principal } = crm.calls[1] ?? {}
  t.match({ method, path, headers, subject: principal?.subject, q: query?.get('q') }, {
    method: 'GET', path: 'customers/7', headers: { 'x-a': 'b' }, subject: 'ada', q: 'a b'
  })
  await t.rejects(catalog.call('call', { path: 'customers/8' }), {
    cause: { message: 'The stand-in of crm has no answer for "GET customers/8".' }
  })

  const own = defineUpstream({ name: 'crm', url: 'https://x/', auth: { type: 'none' } })
  catalog.upstream(own).answer((request) => {
    const { a } = request.json<{ a: string }>()
    const headers = { 'content-type': 'text/plain' }
    return new Response(`${request.method} ${a}`, { status: 201, headers })
  })
  const posted = await catalog.call('call', { init: { method: 'POST', json: { a: 'b' } }, read: 'text' })
  t.strictSame(posted.structuredContent, { status: 201, type: 'text/plain', body: 'POST b' })

  crm.fail('timeout')
  const failed = await catalog.call('call')
  t.match(failed, { isError: true, text: /^The service crm did not answer within 10 seconds\./ })

  let times = 0
  crm.answer(() => new Response('[]', { status: ++times === 1 ? 503 : 200 }))
  t.match((await catalog.call('call')).structuredContent, { status: 200, body: [] })
  t.equal(times, 2, 'what the definition says of repetition holds')

  crm.answer(() => {})
  await t.rejects(catalog.call('call'), { cause: { message: /returned nothing for GET "customers\/7"/ } })
  crm.answer(() => { throw new RangeError('in the test') })
  await t.rejects(catalog.call('call'), { cause: { message: 'The stand-in threw: in the test' } })
  crm.answer(() => new Response('x'.repeat(11_000_000)))
  t.match(await catalog.call('call', { read: 'text' }), { isError: true, text: /more than can be read/ })
  crm.answer(() => Response.error())
  t.match(await catalog.call('call'), { isError: true, text: /could not be reached/ }, 'no answer')
  t.equal(upstream.requests, 0)
})

t.test('what a stand-in did before does not open the circuit for its next answer', async (t) => {
  const folder = await writeCatalog(t, {
    'lib/crm.ts': crmModule('https://crm.example.com/', 'retry: false'), 'tools/call.ts': TOOL
  })
  const catalog = await openCatalog(folder)
  t.teardown(async () => await catalog.close())
  const failAll = async () => {
    for (const subject of ['a', 'b', 'c', 'd', 'e', 'f']) await catalog.as({ subject }).call('call')
  }
  const crm = catalog.upstream('crm').fail('timeout')
  await failAll()
  t.match((await catalog.call('call')).text, /is not asked for some seconds/)
  crm.answer({ 'GET customers/7': { name: 'Ada' } })
  t.match((await catalog.call('call')).structuredContent, { status: 200 })
  crm.fail('timeout')
  await failAll()
  crm.fail('too_large')
  t.match((await catalog.call('call')).text, /more than can be read/)
})

t.test('answers calls of a load', async (t) => {
  const folder = await writeCatalog(t, {
    'lib/crm.ts': crmModule('https://crm.example.com/'),
    'resources/c.resource.ts': `import { defineResourceTemplate } from 'trivet'
      import { crm } from '../lib/crm.ts'
      export default defineResourceTemplate({
        uriTemplate: 'crm://{id}', name: 'customer', read: () => 'x',
        async list (ctx) {
          const ids = await (await ctx.fetch(crm, 'ids')).json()
          return ids.map((id) => ({ variables: { id }, name: id }))
        }
      })`
  })
  const catalog = await openCatalog(folder, { upstreams: { crm: { 'GET ids': ['7', '8'] } } })
  t.teardown(async () => await catalog.close())
  t.strictSame((await catalog.list()).resources.map(({ uri }) => uri), ['crm://7', 'crm://8'])
  await t.rejects(openCatalog(folder), { message: /The upstream crm has no stand-in/ })
})
