import { books, type Book } from './books.ts'

const index = books.map((book) => ({ book, weights: weighWords(book) }))

/** The eligible books that match the query, the best first. */
export function searchBooks (query: string, eligible: (book: Book) => boolean = () => true): Book[] {
  const terms = [...new Set(wordsOf(query))].map((word) => ({ word, rarity: rarityOf(word) }))
  const found = index
    .filter(({ book }) => eligible(book))
    .map(
      ({ book, weights }) => ({
        book, score: terms.reduce((sum, { word, rarity }) => sum + rarity * (weights.get(word) ?? 0), 0)
      })
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  // Weak matches, which share only a common word, are dropped if there is a good match.
  const least = (found[0]?.score ?? 0) / 5
  return found.filter(({ score }) => score >= least).map(({ book }) => book)
}

/** The weight of a word is that of its most important field. */
function weighWords ({ title, author, genres, blurb, language }: Book): Map<string, number> {
  const weights = new Map<string, number>()
  const fields: Array<[text: string, weight: number]> = [
    [`${blurb} ${language}`, 1], [genres.join(' '), 3], [author, 4], [title, 5]
  ]
  for (const [text, weight] of fields) {
    for (const word of wordsOf(text)) weights.set(word, weight)
  }
  return weights
}

/** Rare words weigh more: a word in every book has no weight. */
function rarityOf (word: string): number {
  const holders = index.filter(({ weights }) => weights.has(word)).length
  return holders === 0 ? 0 : Math.log(books.length / holders)
}

/** Without accents, case and plural: `Brontë` is found as `bronte`, `Robots` as `robot`. */
function wordsOf (text: string): string[] {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map(
    (word) => word.replace(/ies$/, 'y').replace(/(?<=..)s$/, '')
  )
}
