import { defineTool, ToolError } from 'trivet'
import { basketId, basketView, changeBasket, isRepeated, viewBasket } from '../lib/baskets.ts'

export default defineTool({
  name: 'remove_from_basket',
  title: 'Remove from a basket',
  description: 'Takes copies of a book out of a basket, all of them by default, and returns the basket.',
  order: 13,
  inputSchema: {
    type: 'object',
    properties: {
      basketId,
      bookId: { type: 'string', maxLength: 100, description: 'From view_basket' },
      quantity: { type: 'integer', minimum: 1, description: 'How many copies. All by default.' },
      requestId: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        description: 'Your own name for this removal. A retry with the same name does not remove twice.'
      }
    },
    required: ['basketId', 'bookId'],
    additionalProperties: false
  },
  outputSchema: basketView,
  annotations: { openWorldHint: false },
  async run ({ basketId, bookId, quantity = Infinity, requestId }, ctx) {
    const basket = await changeBasket(ctx, basketId, (draft) => {
      if (requestId !== undefined && isRepeated(draft, requestId)) return
      const line = draft.lines.find((one) => one.bookId === bookId)
      if (line === undefined) {
        throw new ToolError(`There is no ${bookId} in this basket. view_basket shows what there is.`)
      }
      line.quantity -= quantity
      if (line.quantity <= 0) draft.lines = draft.lines.filter((one) => one !== line)
    })
    return viewBasket(basketId, basket)
  }
})
