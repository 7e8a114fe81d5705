import { defineTool } from 'trivet'
import { formatPrice, genres } from '../lib/books.ts'
import { searchBooks } from '../lib/search.ts'

export default defineTool({
  name: 'search_books',
  title: 'Search the books',
  description: 'Finds books of this shop by title, author, genre, subject or language, the best match ' +
    'first. Use it whenever you do not know the id of a book. Returns short entries; get_book has the rest.',
  order: 1,
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'A few words, such as "Austen" or "revenge at sea"'
      },
      genre: { type: 'string', enum: genres, description: 'Only this genre' },
      maxPriceCents: {
        type: 'integer', minimum: 0, description: 'Only books that cost this much or less, in euro cents'
      },
      limit: { type: 'integer', minimum: 1, maximum: 20, default: 5, description: 'How many books to return' }
    },
    required: ['query'],
    additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: {
      found: { type: 'integer', description: 'How many books match, returned or not' },
      books: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            title: { type: 'string' },
            author: { type: 'string' },
            year: { type: 'integer' },
            price: { type: 'string' },
            inStock: { type: 'boolean' }
          },
          required: ['id', 'title', 'author', 'year', 'price', 'inStock']
        }
      }
    },
    required: ['found', 'books']
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  run ({ query, genre, maxPriceCents = Infinity, limit }) {
    const found = searchBooks(
      query,
      (book) => book.priceCents <= maxPriceCents && (genre === undefined || book.genres.includes(genre))
    )
    return {
      found: found.length,
      books: found.slice(0, limit).map(({ id, title, author, year, priceCents, stock }) => ({
        id, title, author, year, price: formatPrice(priceCents), inStock: stock > 0
      }))
    }
  }
})
