import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { FastMCP, UserError } from 'fastmcp'
import { z } from 'zod'

const RATES = { EUR: 1, USD: 1.1, JPY: 160 }
const RETURNS = new URL('resources/returns.md', import.meta.url)
const currency = z.string().regex(/^[A-Z]{3}$/)
// In the memory of this process, and kept until it ends.
const baskets = new Map()

function createBasket () {
  const id = randomUUID()
  baskets.set(id, [])
  return id
}

function findBasket (id) {
  const items = baskets.get(id)
  if (items === undefined) throw new UserError(`There is no basket ${id}.`)
  return items
}

const structured = (content) => (
  { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content }
)

export const server = new FastMCP({ name: 'shop', version: '1.0.0' })

server.addTool({
  name: 'convert',
  description: 'Converts an amount between two currencies.',
  parameters: z.object({ amount: z.number().min(0), from: currency, to: currency }),
  outputSchema: z.object({ amount: z.number() }),
  async execute ({ amount, from, to }) {
    if (!(from in RATES && to in RATES)) throw new UserError(`No rate from ${from} to ${to}.`)
    return structured({ amount: amount / RATES[from] * RATES[to] })
  }
})

server.addTool({
  name: 'add_to_basket',
  description: 'Adds a product to a basket, and returns the basket. Without an id it makes a new basket.',
  parameters: z.object({
    basketId: z.string().optional(),
    product: z.string().min(1),
    quantity: z.number().int().min(1).default(1)
  }),
  outputSchema: z.object({ basketId: z.string(), items: z.array(z.any()) }),
  async execute ({ basketId = createBasket(), product, quantity }) {
    const items = findBasket(basketId)
    items.push({ product, quantity })
    return structured({ basketId, items })
  }
})

server.addTool({
  name: 'checkout',
  description: 'Orders what is in a basket, once the user has confirmed it.',
  parameters: z.object({ basketId: z.string() }),
  async execute ({ basketId }, { elicit }) {
    const items = findBasket(basketId)
    const { action, content } = await elicit({
      message: `Order ${items.length} items?`,
      requestedSchema: {
        type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm']
      }
    })
    if (action !== 'accept' || !content.confirm) return 'Nothing was ordered.'
    baskets.delete(basketId)
    return `Ordered ${items.length} items.`
  }
})

server.addPrompt({
  name: 'recommend',
  description: 'Recommends a product of the shop.',
  arguments: [{ name: 'need', required: true }],
  load: async ({ need }) => `Recommend one product of this shop for somebody who needs ${need}.`
})

server.addResource({
  uri: 'file:///returns.md',
  name: 'returns.md',
  mimeType: 'text/markdown',
  load: async () => ({ text: await readFile(RETURNS, 'utf8') })
})
