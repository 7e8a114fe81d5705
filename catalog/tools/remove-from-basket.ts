import { defineTool, ToolError } from 'trivet'
import { basketId, basketView, changeBasket, viewBasket } from '../lib/baskets.ts'

export default defineTool({
  name: 'remove_from_basket',
  title: 'Remove from a basket',
  description: 'Takes all copies of a book out of a basket, and returns the basket.',
  order: 13,
  inputSchema: {
    type: 'object',
    properties: { basketId, bookId: { type: 'string', maxLength: 100, description: 'From view_basket' } },
    required: ['basketId', 'bookId'],
    additionalProperties: false
  },
  outputSchema: basketView,
  annotations: { idempotentHint: true, openWorldHint: false },
  async run ({ basketId, bookId }, ctx) {
    const basket = await changeBasket(ctx, basketId, (draft) => {
      const kept = draft.lines.filter((line) => line.bookId !== bookId)
      if (kept.length === draft.lines.length) {
        throw new ToolError(`There is no ${bookId} in this basket. view_basket shows what there is.`)
      }
      draft.lines = kept
    })
    return viewBasket(basketId, basket)
  }
})
