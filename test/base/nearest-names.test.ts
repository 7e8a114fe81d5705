import t from 'tap'
import { createNearestNames } from '../../src/base/nearest-names.ts'

const names = ['search_books', 'search_orders', 'create_basket', 'add_to_basket', 'x', 'search_book_reviews']
const all = () => true

t.test('finds at most three similar names, the most similar first (122)', async (t) => {
  for (const wrong of ['search_bokos', 'searchBooks', 'SEARCH-BOOKS', 'serch_books', 'search_books\n']) {
    t.equal(createNearestNames(names)(wrong, all)[0], 'search_books', wrong)
  }
  t.strictSame(createNearestNames(names)('toolkit', all), [])
  for (const wrong of ['', '___', 'x', '日']) t.strictSame(createNearestNames(names)(wrong, all), [], wrong)
  t.ok(createNearestNames([...names, ...names])('search', all).length <= 3)
})

t.test('an abbreviation means a name that has its letters in their order', async (t) => {
  t.strictSame(createNearestNames(['text', 'title'])('txt', all), ['text'])
  t.strictSame(createNearestNames(['text', 'title'])('TXT', all), ['text'])
  t.strictSame(createNearestNames(['text', 'title'])('xtt', all), [])
})

t.test('of equally similar names the first comes first, and a hidden one is passed over', async (t) => {
  const find = createNearestNames(['tool_1a', 'tool_1b', 'tool_1c', 'tool_1d', 'tool_12'])
  for (let times = 1; times <= 2; times++) {
    t.strictSame(find('tool_1', all), ['tool_1a', 'tool_1b', 'tool_1c'], `asked ${times} times`)
    t.strictSame(find('tool_2', (name) => name !== 'tool_1b'), ['tool_12', 'tool_1a', 'tool_1c'])
  }
})

t.test('a long name and many tools cost little', async (t) => {
  const many = Array.from({ length: 5000 }, (_, index) => `tool_number_${index}`)
  const before = process.cpuUsage()
  createNearestNames(many)('tool'.repeat(16_384), all)
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 1_000_000, `${user + system} µs`)
})
