import { defineTool, elicit } from 'trivet'
import { baskets } from '../lib/baskets.js'

export default defineTool({
  name: 'checkout',
  description: 'Orders what is in a basket, once the user has confirmed it.',
  inputSchema: { type: 'object', properties: { basketId: { type: 'string' } }, required: ['basketId'] },
  async run ({ basketId }, ctx) {
    const { items } = await ctx.handles(baskets).read(basketId)
    const { answer } = await ctx.ask({
      answer: elicit.form({
        message: `Order ${items.length} items?`,
        schema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
      })
    })
    if (answer.action !== 'accept' || !answer.content.confirm) return 'Nothing was ordered.'
    await ctx.handles(baskets).delete(basketId)
    return `Ordered ${items.length} items.`
  }
})
