// What a test of a catalog sees of lists that change, of time limits, and of resources that handlers read.

import t from 'tap'
import { open, toModule } from './open.ts'

const FILES = {
  'lib/notes.ts': 'export const notes = ["first"]',
  'tools/t.ts': `import { notes } from '../lib/notes.ts'
    ${toModule(`
    const inputSchema = { type: 'object', properties: { id: { type: 'string' }, list: { type: 'string' } } }
    export const add = defineTool({ name: 'add', inputSchema, run ({ id }, ctx) {
      notes.push(id)
      ctx.notify.listChanged('resources')
      return 'added'
    } })
    export const quiet = defineTool({ name: 'quiet', inputSchema, run ({ id }) { notes.push(id) } })
    export const wrong = defineTool({ name: 'wrong', inputSchema, run (_, ctx) { ctx.notify.listChanged('tools') } })
    export const show = defineTool({
      name: 'show', inputSchema, run: async ({ id }, ctx) => ({ content: [await ctx.embedResource('note://' + id)] })
    })
    export const slow = defineTool({ name: 'slow', timeoutMs: 5, run: () => new Promise(() => {}) })
    export const meta = defineTool({ name: 'meta', run: (_, ctx) => ({ meta: ctx.meta }) })`)}`,
  'resources/r.resource.ts': `import { notes } from '../lib/notes.ts'
    ${toModule(`export default defineResourceTemplate({
      uriTemplate: 'note://{id}', name: 'notes', listTtlMs: 60_000, timeoutMs: 5,
      list: () => notes.map((id) => ({ name: id, variables: { id } })),
      read: ({ id }) => id === 'slow' ? new Promise(() => {}) : 'note ' + id
    })`)}`
}

t.test('a list shows what a call has announced, and later what it has not', async (t) => {
  const catalog = await open(t, FILES)
  const names = async () => (await catalog.list()).resources.map(({ name }) => name)
  t.strictSame(await names(), ['first'])
  for (const id of ['second', 'third']) await catalog.call('add', { id })
  t.strictSame(await names(), ['first', 'second', 'third'])
  await catalog.call('quiet', { id: 'fourth' })
  t.equal((await names()).length, 3)
  catalog.advance(60_000)
  t.equal((await names()).length, 3, 'the first request gets the old list')
  t.equal((await names()).length, 4)
  await t.rejects(catalog.call('wrong'), {
    message: 'Internal error', cause: { message: /^listChanged: only 'resources' can change/ }
  })
})

t.test('reads, time limits and _meta are those of a served catalog', async (t) => {
  const catalog = await open(t, FILES)
  t.match(await catalog.call('show', { id: 'x' }), {
    content: [{ type: 'resource', resource: { uri: 'note://x', mimeType: 'text/plain', text: 'note x' } }]
  })
  t.match(await catalog.call('slow'), { isError: true, text: /did not finish within 5 ms/ })
  await t.rejects(catalog.read('note://slow'), { message: 'The request was stopped after 5 ms' })
  const meta = { traceparent: '00-1', 'example.com/a': 1 }
  t.strictSame((await catalog.call('meta', {}, { meta })).structuredContent, { meta })
  t.strictSame((await catalog.call('meta')).structuredContent, { meta: {} })
})
