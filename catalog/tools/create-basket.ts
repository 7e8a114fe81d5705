import { defineTool } from 'trivet'
import { baskets } from '../lib/baskets.ts'

export default defineTool({
  name: 'create_basket',
  title: 'Create a basket',
  description: 'Makes an empty basket and returns its id, which the other basket tools take.',
  order: 10,
  outputSchema: {
    type: 'object',
    properties: {
      basketId: { type: 'string' }, expiresAt: { type: 'string', description: 'Unless it is used before' }
    },
    required: ['basketId', 'expiresAt']
  },
  annotations: { destructiveHint: false, openWorldHint: false },
  async run (_args, ctx) {
    const { id, expiresAt } = await ctx.handles(baskets).create({ lines: [], additions: [] })
    return { basketId: id, expiresAt }
  }
})
