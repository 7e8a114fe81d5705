import { defineResourceTemplate } from 'trivet'
import { baskets, viewBasket } from '../lib/baskets.ts'

export default defineResourceTemplate({
  uriTemplate: 'basket://{id}',
  name: 'basket',
  title: 'A basket',
  description: 'What is in one of your baskets. Whoever subscribes to it hears of each change',
  mimeType: 'application/json',
  async read ({ id }, ctx) {
    return JSON.stringify(viewBasket(id, await ctx.handles(baskets).read(id)), undefined, 2)
  }
})
