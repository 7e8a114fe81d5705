// State that one release of a catalog keeps is read by the next one.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../../src/app/app.ts'
import { listen } from '../../../helpers/app.ts'
import { writeCatalog } from '../../../helpers/catalog-folder.ts'
import { createReadableLog, type ReadableLog } from '../../../helpers/log.ts'
import { QUIET } from '../../../helpers/quiet-options.ts'
import type { Message } from '../../../helpers/request.ts'
import { post } from '../../../helpers/stream.ts'

/** @param options of the handle, as source text. @param value the first value, as source text. */
const release = (options: string, value: string, change: string) => ({
  'lib/carts.ts': `import { defineHandle } from 'trivet'
    export const carts = defineHandle({ kind: 'cart', prefix: 'crt', idleTtlMs: 60_000, ${options} })`,
  'tools/t.ts': `import { defineTool } from 'trivet'
    import { carts } from '../lib/carts.ts'
    const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
    export const create = defineTool({
      name: 'create', run: async (_, ctx) => ({ id: (await ctx.handles(carts).create(${value})).id })
    })
    export const read = defineTool({
      name: 'read', inputSchema, run: async ({ id }, ctx) => ({ value: await ctx.handles(carts).read(id) })
    })
    export const change = defineTool({
      name: 'change', inputSchema,
      run: async ({ id }, ctx) => ({ value: await ctx.handles(carts).update(id, (draft) => { ${change} }) })
    })`
})

const list = "{ type: 'array', items: { type: 'string' } }"
const first = release(
  `schema: { type: 'object', properties: { items: ${list} }, required: ['items'] }`, "{ items: ['tea'] }",
  "draft.items.push('milk')"
)
const second = `schema: {
  type: 'object',
  properties: { currency: { type: 'string' }, lines: ${list} },
  required: ['currency', 'lines'],
  additionalProperties: false
}`
const migrate = "migrate: ({ items }) => ({ currency: 'EUR', lines: items })"
const made = "{ currency: 'USD', lines: [] }"
const change = "draft.lines.push('milk')"

type Call = (name: string, id?: unknown) => Promise<Message>

t.test('the next release migrates kept state when it is read, and writes it when it changes', async (t) => {
  const folder = t.testdir({})
  const { logger, lines } = createReadableLog()
  const id = await during(t, folder, first, async (call) => (await call('create')).structuredContent.id)

  await during(t, folder, release(`${second}, ${migrate}`, made, change), async (call) => {
    t.strictSame((await call('read', id)).structuredContent, { value: { currency: 'EUR', lines: ['tea'] } })
  })
  await during(t, folder, first, async (call) => {
    t.strictSame((await call('read', id)).structuredContent, { value: { items: ['tea'] } }, 'not written')
  })
  await during(t, folder, release(second, made, change), async (call) => {
    const text = 'This cart was made by another release and cannot be read. Make a new one.'
    t.match(await call('read', id), { isError: true, content: [{ text }] })
    t.match(lines.find(({ msg }) => msg === 'tool error'), { err: { message: /cart .*currency.*migrate/ } })
  }, logger)
  await during(t, folder, release(`${second}, ${migrate}`, made, change), async (call) => {
    const value = { currency: 'EUR', lines: ['tea', 'milk'] }
    t.strictSame((await call('change', id)).structuredContent, { value })
  })
  await during(t, folder, release(second, made, change), async (call) => {
    const value = { currency: 'EUR', lines: ['tea', 'milk'] }
    t.strictSame((await call('read', id)).structuredContent, { value }, 'written')
  })
})

/** Serves a release over HTTP for a time, with the state of the folder. */
async function during<T> (
  t: Test, folder: string, files: ReturnType<typeof release>, use: (call: Call) => Promise<T>,
  logger?: ReadableLog['logger']
): Promise<T> {
  const catalog = await writeCatalog(t, files)
  const stateUrl = `file:${join(folder, 'state')}`
  const app = await createApp({ ...QUIET, catalog, stateUrl, ...(logger && { logger }) })
  try {
    const url = await listen(app)
    return await use(async (name, id) => {
      const params = { name, arguments: id === undefined ? {} : { id } }
      const { messages } = await post(t, url, { method: 'tools/call', params })
      return messages.at(-1)?.result
    })
  } finally {
    await app.close()
  }
}
