import t from 'tap'
import { findNearestNames } from '../../src/catalog/nearest-names.ts'

const names = ['search_books', 'search_orders', 'create_basket', 'add_to_basket', 'x', 'search_book_reviews']

t.test('finds at most three similar names, the most similar first (122)', async (t) => {
  for (const wrong of ['search_bokos', 'searchBooks', 'SEARCH-BOOKS', 'serch_books', 'search_books\n']) {
    t.equal(findNearestNames(wrong, names)[0], 'search_books', wrong)
  }
  t.strictSame(findNearestNames('toolkit', names), [])
  for (const wrong of ['', '___', 'x', '日']) t.strictSame(findNearestNames(wrong, names), [], wrong)
  t.ok(findNearestNames('search', [...names, ...names]).length <= 3)
})

t.test('a long name and many tools cost little', async (t) => {
  const many = Array.from({ length: 5000 }, (_, index) => `tool_number_${index}`)
  const before = process.cpuUsage()
  findNearestNames('tool'.repeat(16_384), many)
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 1_000_000, `${user + system} µs`)
})
