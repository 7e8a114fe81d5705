import { defineTool } from 'trivet'
import { findBook, formatPrice, unknownBook, type Book } from '../lib/books.ts'
import { quoteCents, rates } from '../lib/shipping.ts'

export default defineTool({
  name: 'quote_shipping',
  title: 'Quote shipping',
  description: 'Computes what an order costs with shipping to a region, and how long it takes. Use it for ' +
    'any question about shipping costs or totals. Orders nothing.',
  order: 3,
  inputSchema: {
    type: 'object',
    properties: {
      // Clients repeat the value in the header Mcp-Param-Region, so that a load balancer can send the call to
      // the replicas that stand nearest to that region's warehouse, without parsing the body.
      region: {
        type: 'string',
        enum: ['ireland', 'eu', 'uk', 'world'],
        'x-mcp-header': 'Region',
        description: '"eu" is without Ireland'
      },
      items: {
        type: 'array',
        description: 'The books of the order, with ids from search_books',
        minItems: 1,
        maxItems: 50,
        items: {
          type: 'object',
          properties: {
            bookId: { type: 'string', maxLength: 100 },
            quantity: { type: 'integer', minimum: 1, maximum: 100 }
          },
          required: ['bookId', 'quantity'],
          additionalProperties: false
        }
      }
    },
    required: ['region', 'items'],
    additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: {
      weightGrams: { type: 'integer' },
      booksCents: { type: 'integer', description: 'In euro cents, as all amounts' },
      shippingCents: { type: 'integer' },
      totalCents: { type: 'integer' },
      total: { type: 'string', description: 'The same, to show to people' },
      workingDays: {
        type: 'object',
        properties: { from: { type: 'integer' }, to: { type: 'integer' } },
        required: ['from', 'to']
      },
      lacking: {
        type: 'array',
        items: { type: 'string' },
        description: 'Ids of books of which the shop has fewer copies than asked for'
      }
    },
    required: ['weightGrams', 'booksCents', 'shippingCents', 'totalCents', 'total', 'workingDays', 'lacking']
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  run ({ region, items }) {
    const order = new Map<Book, number>()
    for (const { bookId, quantity } of items) {
      const book = findBook(bookId)
      if (book === undefined) throw unknownBook(bookId)
      order.set(book, (order.get(book) ?? 0) + quantity)
    }
    const lines = [...order]
    const weightGrams = lines.reduce((sum, [book, quantity]) => sum + book.weightGrams * quantity, 0)
    const booksCents = lines.reduce((sum, [book, quantity]) => sum + book.priceCents * quantity, 0)
    const shippingCents = quoteCents(rates[region], weightGrams, booksCents)
    const totalCents = booksCents + shippingCents
    const lacking = lines.filter(([book, quantity]) => quantity > book.stock).map(([book]) => book.id)
    return {
      weightGrams,
      booksCents,
      shippingCents,
      totalCents,
      total: formatPrice(totalCents),
      workingDays: rates[region].workingDays,
      lacking
    }
  }
})
