import { defineTool } from 'trivet'
import { basketId, baskets, basketView, viewBasket } from '../lib/baskets.ts'

export default defineTool({
  name: 'view_basket',
  title: 'View a basket',
  description: 'Returns what is in a basket and what it costs without shipping.',
  order: 12,
  ui: 'basket',
  inputSchema: {
    type: 'object', properties: { basketId }, required: ['basketId'], additionalProperties: false
  },
  outputSchema: basketView,
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run ({ basketId }, ctx) {
    return viewBasket(basketId, await ctx.handles(baskets).read(basketId))
  }
})
