// `ctx.fetch` in handlers of every kind, over HTTP, with a server as the upstream.

import t from 'tap'
import { openCaller, startUpstream, textOf } from './upstream-server.ts'

t.test('a tool calls an upstream with its secret, its path and its query', async (t) => {
  const upstream = await startUpstream(t, (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ url: request.url, key: request.headers['x-key'] }))
  })
  const { call } = await openCaller(t, upstream, {
    definition: "auth: { type: 'secret', header: 'X-Key', value: 'k1' }",
    run: `async (_, ctx) => {
      const answer = await ctx.fetch(crm, 'customers/7', { query: { q: 'a b', tag: ['x', 'y'] } })
      return { status: answer.status, ...await answer.json() }
    }`
  })
  t.strictSame(JSON.parse(textOf(await call())), {
    status: 200, url: '/api/customers/7?q=a+b&tag=x&tag=y', key: 'k1'
  })
})
