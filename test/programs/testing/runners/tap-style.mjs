// The bookshop in the style of tap.

import t from 'tap'
import { openCatalog } from 'trivet/testing'

const shop = await openCatalog('./catalog')
t.teardown(async () => await shop.close())

t.test('finds books', async (t) => {
  const { structuredContent } = await shop.call('search_books', { query: 'whale', limit: 1 })
  t.match(structuredContent, { books: [{ title: /^Moby-Dick/ }] })
  await t.rejects(shop.call('search_boks'), { code: -32602, message: /Did you mean search_books/ })
})
