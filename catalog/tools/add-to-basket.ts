import { defineTool, ToolError } from 'trivet'
import { basketId, basketView, changeBasket, isRepeated, viewBasket } from '../lib/baskets.ts'
import { findBook, unknownBook } from '../lib/books.ts'

const MAX_COPIES = 100_000

export default defineTool({
  name: 'add_to_basket',
  title: 'Add to a basket',
  description: 'Adds copies of a book to a basket, and returns the basket.',
  order: 11,
  inputSchema: {
    type: 'object',
    properties: {
      basketId,
      bookId: { type: 'string', maxLength: 100, description: 'From search_books' },
      quantity: { type: 'integer', minimum: 1, maximum: 100, default: 1, description: 'How many copies' },
      requestId: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        description: 'Your own name for this addition. A retry with the same name does not add twice.'
      }
    },
    required: ['basketId', 'bookId'],
    additionalProperties: false
  },
  outputSchema: basketView,
  annotations: { destructiveHint: false, openWorldHint: false },
  async run ({ basketId, bookId, quantity, requestId }, ctx) {
    if (findBook(bookId) === undefined) throw unknownBook(bookId)
    const basket = await changeBasket(ctx, basketId, (draft) => {
      if (requestId !== undefined && isRepeated(draft, requestId)) return
      const line = draft.lines.find((one) => one.bookId === bookId)
      if ((line?.quantity ?? 0) + quantity > MAX_COPIES) {
        throw new ToolError(`A basket holds no more than ${MAX_COPIES} copies of a book.`)
      }
      if (line === undefined) draft.lines.push({ bookId, quantity })
      else line.quantity += quantity
    })
    return viewBasket(basketId, basket)
  }
})
