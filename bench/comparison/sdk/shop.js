import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod/v4'

const RATES = { EUR: 1, USD: 1.1, JPY: 160 }
const RETURNS = new URL('resources/returns.md', import.meta.url)
const currency = z.string().regex(/^[A-Z]{3}$/)
const confirmation = z.object({ confirm: z.boolean() })
// In the memory of this process, and kept until it ends.
const baskets = new Map()

function createBasket () {
  const id = randomUUID()
  baskets.set(id, [])
  return id
}

const failed = (text) => ({ content: [{ type: 'text', text }], isError: true })
const structured = (content) => (
  { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content }
)

export const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })

  server.registerTool('convert', {
    description: 'Converts an amount between two currencies.',
    inputSchema: z.object({ amount: z.number().min(0), from: currency, to: currency }),
    outputSchema: z.object({ amount: z.number() })
  }, async ({ amount, from, to }) => {
    if (!(from in RATES && to in RATES)) return failed(`No rate from ${from} to ${to}.`)
    return structured({ amount: amount / RATES[from] * RATES[to] })
  })

  server.registerTool('add_to_basket', {
    description: 'Adds a product to a basket, and returns the basket. Without an id it makes a new basket.',
    inputSchema: z.object({
      basketId: z.string().optional(),
      product: z.string().min(1),
      quantity: z.number().int().min(1).default(1)
    }),
    outputSchema: z.object({ basketId: z.string(), items: z.array(z.any()) })
  }, async ({ basketId = createBasket(), product, quantity }) => {
    const items = baskets.get(basketId)
    if (items === undefined) return failed(`There is no basket ${basketId}.`)
    items.push({ product, quantity })
    return structured({ basketId, items })
  })

  server.registerTool('checkout', {
    description: 'Orders what is in a basket, once the user has confirmed it.',
    inputSchema: z.object({ basketId: z.string() })
  }, async ({ basketId }, ctx) => {
    const items = baskets.get(basketId)
    if (items === undefined) return failed(`There is no basket ${basketId}.`)
    if (ctx.mcpReq.inputResponses?.answer === undefined) {
      const message = `Order ${items.length} items?`
      const answer = inputRequired.elicit({ message, requestedSchema: confirmation })
      return inputRequired({ inputRequests: { answer } })
    }
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'answer', confirmation)
    if (answer?.confirm !== true) return { content: [{ type: 'text', text: 'Nothing was ordered.' }] }
    baskets.delete(basketId)
    return { content: [{ type: 'text', text: `Ordered ${items.length} items.` }] }
  })

  server.registerPrompt('recommend', {
    description: 'Recommends a product of the shop.',
    argsSchema: z.object({ need: z.string() })
  }, ({ need }) => {
    const text = `Recommend one product of this shop for somebody who needs ${need}.`
    return { messages: [{ role: 'user', content: { type: 'text', text } }] }
  })

  server.registerResource('returns.md', 'file:///returns.md', { mimeType: 'text/markdown' }, async ({ href }) => (
    { contents: [{ uri: href, mimeType: 'text/markdown', text: await readFile(RETURNS, 'utf8') }] }
  ))
  return server
})
