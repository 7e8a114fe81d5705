import { randomUUID } from 'node:crypto'
import { defineTool, elicit, ToolError } from 'trivet'
import { basketId, baskets, viewBasket } from '../lib/baskets.ts'

export default defineTool({
  name: 'checkout',
  title: 'Check out',
  description: 'Orders what is in a basket, once its owner has confirmed it.',
  order: 14,
  inputSchema: {
    type: 'object', properties: { basketId }, required: ['basketId'], additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: {
      ordered: { type: 'boolean' },
      order: {
        type: 'object',
        properties: {
          number: { type: 'string' }, totalCents: { type: 'integer' }, placedAt: { type: 'string' }
        }
      }
    },
    required: ['ordered']
  },
  annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  // The customer's consent. A model that passed the question on could answer it by itself.
  relayQuestions: false,
  async run ({ basketId }, ctx) {
    const basket = await ctx.handles(baskets).read(basketId)
    // A repeated call returns the same order, so nothing is ordered twice.
    if (basket.order !== undefined) return { ordered: true, order: basket.order }
    const { lines, totalCents, total } = viewBasket(basketId, basket)
    if (lines.length === 0) throw new ToolError('This basket is empty. add_to_basket puts something into it.')

    // Remembered until the customer answers, to compare it with the basket afterwards.
    const confirmedCents = await ctx.once('confirmed-cents', () => totalCents)
    const books = lines.map(({ quantity, title }) => `${quantity} x ${title}`).join(', ')
    const { confirmation } = await ctx.ask({
      confirmation: elicit.form({
        message: `Order ${books} for ${total}?`,
        schema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Yes, order this' } },
          required: ['confirm']
        }
      })
    })
    if (confirmation.action !== 'accept' || !confirmation.content.confirm) return { ordered: false }

    const { order } = await ctx.handles(baskets).update(basketId, (draft) => {
      // A concurrent call has placed the order first.
      if (draft.order !== undefined) return
      if (viewBasket(basketId, draft).totalCents !== confirmedCents) {
        throw new ToolError('The basket has changed since the order was confirmed. Check out again.')
      }
      draft.order = { number: randomUUID(), totalCents: confirmedCents, placedAt: new Date().toISOString() }
    })
    ctx.notify.resourceUpdated(`basket://${basketId}`, { private: true })
    return { ordered: order !== undefined, ...(order === undefined ? {} : { order }) }
  }
})
