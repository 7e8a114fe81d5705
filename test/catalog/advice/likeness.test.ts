// Which descriptions are alike.

import fc from 'fast-check'
import t from 'tap'
import { findAlike } from '../../../src/catalog/advice/likeness.ts'

const WORDS = ['find', 'books', 'by', 'title', 'author', 'order', 'all']

/** Compares each with all before it. */
function compareAll (descriptions: readonly string[]): Array<number | undefined> {
  const sets = descriptions.map((text) => new Set(text.split(' ').filter((word) => word !== '')))
  return sets.map((one, index) => {
    if (one.size < 4) return undefined
    const first = sets.slice(0, index).findIndex((other) => {
      const common = [...one].filter((word) => other.has(word)).length
      return other.size >= 4 && common / (one.size + other.size - common) >= 0.8
    })
    return first === -1 ? undefined : first
  })
}

t.test('finds the first that shares four of five words, as a comparison of all does', (t) => {
  const words = fc.array(fc.constantFrom(...WORDS), { minLength: 4, maxLength: 14, size: 'max' })
  const description = words.map((all) => all.join(' '))
  let found = 0
  fc.assert(fc.property(fc.array(description, { minLength: 20, maxLength: 40 }), (descriptions) => {
    const expected = compareAll(descriptions)
    found += expected.filter((one) => one !== undefined).length
    t.strictSame(findAlike(descriptions), expected)
  }), { numRuns: 200 })
  t.ok(found > 100, `${found} that are alike`)
  t.end()
})
