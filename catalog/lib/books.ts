import { readFileSync } from 'node:fs'
import { ToolError } from 'trivet'

export interface Book {
  id: string
  title: string
  author: string
  /** The year of the first publication. */
  year: number
  /** The language of the original. */
  language: string
  genres: string[]
  pages: number
  weightGrams: number
  priceCents: number
  stock: number
  blurb: string
}

export const books: readonly Book[] = JSON.parse(
  readFileSync(new URL('../resources/books.json', import.meta.url), 'utf8')
)

export const genres: readonly string[] = [...new Set(books.flatMap((book) => book.genres))].sort()

const byId = new Map(books.map((book) => [book.id, book]))

export function findBook (id: string): Book | undefined {
  return byId.get(id)
}

/** The error names the most similar ids, so that a model can correct itself. */
export function unknownBook (id: string): ToolError {
  const wanted = letterPairs(id)
  const likeness = (book: Book) => {
    const pairs = letterPairs(book.id)
    return [...pairs].filter((pair) => wanted.has(pair)).length / (pairs.size + wanted.size)
  }
  const nearest = books.toSorted((a, b) => likeness(b) - likeness(a)).slice(0, 3).map((book) => book.id)
  return new ToolError(
    `There is no book ${id}. The nearest ids are ${nearest.join(', ')}; search_books finds others.`
  )
}

function letterPairs (text: string): Set<string> {
  const letters = text.toLowerCase()
  return new Set(Array.from({ length: letters.length }, (_, at) => letters.slice(at, at + 2)))
}

const euros = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' })

export function formatPrice (cents: number): string {
  return euros.format(cents / 100)
}
