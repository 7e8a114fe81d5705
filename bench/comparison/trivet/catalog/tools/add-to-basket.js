import { defineTool } from 'trivet'
import { baskets } from '../lib/baskets.js'

export default defineTool({
  name: 'add_to_basket',
  description: 'Adds a product to a basket, and returns the basket. Without an id it makes a new basket.',
  inputSchema: {
    type: 'object',
    properties: {
      basketId: { type: 'string' },
      product: { type: 'string', minLength: 1 },
      quantity: { type: 'integer', minimum: 1, default: 1 }
    },
    required: ['product']
  },
  outputSchema: {
    type: 'object',
    properties: { basketId: { type: 'string' }, items: { type: 'array' } },
    required: ['basketId', 'items']
  },
  async run ({ basketId, product, quantity }, ctx) {
    const id = basketId ?? (await ctx.handles(baskets).create({ items: [] })).id
    const { items } = await ctx.handles(baskets).update(id, (draft) => {
      draft.items.push({ product, quantity })
    })
    return { basketId: id, items }
  }
})
