import { defineTool } from 'trivet'
import { findBook, formatPrice, unknownBook } from '../lib/books.ts'

export default defineTool({
  name: 'get_book',
  title: 'Get a book',
  description: 'Returns all that the shop knows of one book: price, stock, pages, weight, genres and a ' +
    'short description. Use it before you state any of these.',
  order: 2,
  inputSchema: {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        minLength: 1,
        maxLength: 100,
        description: 'As search_books returns it, such as "moby-dick"'
      }
    },
    required: ['id'],
    additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      title: { type: 'string' },
      author: { type: 'string' },
      year: { type: 'integer', description: 'Of first publication' },
      language: { type: 'string', description: 'Of the original' },
      genres: { type: 'array', items: { type: 'string' } },
      pages: { type: 'integer' },
      weightGrams: { type: 'integer' },
      priceCents: { type: 'integer', description: 'In euro cents' },
      price: { type: 'string', description: 'The same, to show to people' },
      stock: { type: 'integer', description: 'Copies in the shop; 0: sold out' },
      blurb: { type: 'string' }
    },
    required: [
      'id', 'title', 'author', 'year', 'language', 'genres', 'pages', 'weightGrams', 'priceCents', 'price',
      'stock', 'blurb'
    ]
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  run ({ id }) {
    const book = findBook(id)
    if (book === undefined) throw unknownBook(id)
    return { ...book, price: formatPrice(book.priceCents) }
  }
})
