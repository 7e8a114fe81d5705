import { defineResourceTemplate } from 'trivet'
import { books, findBook } from '../lib/books.ts'

export default defineResourceTemplate({
  uriTemplate: 'book://{id}',
  name: 'book',
  title: 'A book',
  description: 'One book of the shop: what it is about, its price and how many copies there are',
  mimeType: 'application/json',
  cache: { ttlMs: 60_000, cacheScope: 'public' },
  complete: { id: books.map((book) => book.id) },
  list: () => books.map(
    ({ id, title, author, year }) => ({
      variables: { id }, name: id, title, description: `By ${author}, ${year}`
    })
  ),
  read ({ id }) {
    const book = findBook(id)
    return book && JSON.stringify(book, undefined, 2)
  }
})
