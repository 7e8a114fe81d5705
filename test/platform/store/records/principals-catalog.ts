// The catalog that two principals share in a test: tools, a resource and a prompt over baskets.

const CONFIRMATION =
  "elicit.form({ message: 'Sure?', schema: { type: 'object', properties: { confirm: { type: 'boolean' } }, " +
    "required: ['confirm'] } })"
const ID =
  "inputSchema: { type: 'object', properties: { id: { type: 'string' }, text: { type: 'string' } }, " +
    "required: ['id'] }"

// `confirm` asks about a basket. `draw` has no id of its own, so two callers can send it the same arguments.
export const FILES = {
  'tools/baskets.ts': `
import { defineHandle, defineTool, elicit } from 'trivet'
export const baskets = defineHandle({
  kind: 'basket', prefix: 'bsk', idleTtlMs: 600_000, createdBy: 'create',
  schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
})
export const createTool = defineTool({
  name: 'create',
  description: 'Makes one.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: async ({ text }, ctx) => (await ctx.handles(baskets).create({ text })).id
})
export const readTool = defineTool({
  name: 'read', description: 'Reads it.', ${ID},
  run: async ({ id }, ctx) => (await ctx.handles(baskets).read(id)).text
})
export const updateTool = defineTool({
  name: 'update', description: 'Changes it.', ${ID},
  async run ({ id, text = '' }, ctx) {
    const basket = await ctx.handles(baskets).update(id, () => ({ text }))
    ctx.notify.resourceUpdated('basket://' + id, { private: true })
    return basket.text
  }
})
export const deleteTool = defineTool({
  name: 'delete', description: 'Ends it.', ${ID},
  async run ({ id }, ctx) {
    await ctx.handles(baskets).delete(id)
    return 'deleted'
  }
})
export const confirmTool = defineTool({
  name: 'confirm', description: 'Asks about it.', ${ID},
  async run ({ id }, ctx) {
    const seen = await ctx.once('seen', async () => (await ctx.handles(baskets).read(id)).text)
    const { sure } = await ctx.ask({ sure: ${CONFIRMATION} })
    return sure.action + ' ' + seen
  }
})
export const drawTool = defineTool({
  name: 'draw', description: 'Draws a lot, which its owner sees once it is confirmed.', ${ID},
  async run (_args, ctx) {
    const { subject, clientId } = ctx.principal
    const lot = await ctx.once('lot', () => 'lot of ' + subject + '/' + clientId + '.')
    const { sure } = await ctx.ask({ sure: ${CONFIRMATION} })
    return sure.action + ' ' + lot
  }
})
`,
  'resources/basket.resource.ts': `
import { defineResourceTemplate } from 'trivet'
import { baskets } from '../tools/baskets.ts'
export default defineResourceTemplate({
  uriTemplate: 'basket://{id}',
  name: 'basket',
  read: async ({ id }, ctx) => (await ctx.handles(baskets).read(id)).text
})
`,
  'prompts/basket.ts': `
import { definePrompt } from 'trivet'
import { baskets } from '../tools/baskets.ts'
export default definePrompt({
  name: 'basket',
  description: 'Shows it.',
  arguments: [{ name: 'id', required: true }],
  render: async ({ id }, ctx) => (await ctx.handles(baskets).read(id)).text
})
`
}
