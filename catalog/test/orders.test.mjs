// The bookshop's tests, for `node --test`. They show what 'trivet/testing' can do.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCatalog } from 'trivet/testing'

const DAY_MS = 86_400_000
const YES = { confirmation: { action: 'accept', content: { confirm: true } } }
const NO = { confirmation: { action: 'decline' } }

let shop

before(async () => { shop = await openCatalog(new URL('..', import.meta.url)) })
after(async () => await shop.close())

/** A basket of this customer, with one copy of each book. */
async function fillBasket (customer, ...bookIds) {
  const { structuredContent: { basketId } } = await customer.call('create_basket')
  for (const bookId of bookIds) await customer.call('add_to_basket', { basketId, bookId })
  return basketId
}

async function findBook (query) {
  const { structuredContent: { books } } = await shop.call('search_books', { query, limit: 1 })
  return books[0].id
}

test('an order needs the customer\'s yes, and is placed once', async () => {
  const ada = shop.as({ subject: 'ada' })
  const basketId = await fillBasket(ada, await findBook('whale'))
  await assert.rejects(ada.call('checkout', { basketId }), /asks "confirmation" \(form\): Order 1 x Moby-Dick/)

  const declined = await ada.call('checkout', { basketId }, { answers: NO })
  assert.deepEqual(declined.structuredContent, { ordered: false })
  const placed = await ada.call('checkout', { basketId }, { answers: YES })
  assert.equal(placed.structuredContent.ordered, true)
  assert.deepEqual(placed.changes, [{ uri: `basket://${basketId}`, private: true }])
  const again = await ada.call('checkout', { basketId })
  assert.deepEqual(again.structuredContent, placed.structuredContent, 'the same order, without a question')
})

test('the price that was confirmed is the price that is paid', async () => {
  const ada = shop.as({ subject: 'ada' })
  const bookId = await findBook('whale')
  const basketId = await fillBasket(ada, bookId)
  const { isError, text } = await ada.call('checkout', { basketId }, {
    async answer ({ message }) {
      assert.match(message, /^Order 1 x /)
      await ada.call('add_to_basket', { basketId, bookId })
      return YES.confirmation
    }
  })
  assert.equal(isError, true)
  assert.match(text, /has changed/)
})

test('a basket belongs to its customer, and is kept for a day', async () => {
  const ada = shop.as({ subject: 'ada' })
  const basketId = await fillBasket(ada, await findBook('whale'))
  const stranger = await shop.as({ subject: 'bob' }).call('view_basket', { basketId })
  assert.match(stranger.text, /^There is no basket .* create_basket makes a new one\.$/)
  await assert.rejects(shop.read(`basket://${basketId}`), { code: -32602 })

  shop.advance(DAY_MS - 1000)
  assert.equal((await ada.call('view_basket', { basketId })).isError, false)
  shop.advance(DAY_MS)
  assert.equal((await ada.call('view_basket', { basketId })).isError, true)
})

test('a reading list reports each book', async () => {
  const { progress, logs } = await shop.call('build_reading_list', { topic: 'sea', count: 2 })
  assert.deepEqual(progress.map(({ progress, total }) => [progress, total]), [[1, 2], [2, 2]])
  assert.ok(logs.every(({ message }) => message === 'book placed'))
})

test('prompts, files and completions', async () => {
  const { tools, prompts, resources } = await shop.list()
  assert.equal(tools[0].name, 'search_books')
  assert.ok(prompts.some(({ name }) => name === 'recommend_a_book'))
  assert.ok(resources.every(({ uri }) => !uri.includes('.test.')), 'these tests are not served')
  assert.match((await shop.read('file:///policies/returns.md')).text, /return/i)
  const { values } = await shop.complete({ prompt: 'recommend_a_book' }, 'mood', 'adv')
  assert.ok(values.includes('adventurous'))
})
