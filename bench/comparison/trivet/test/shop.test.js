import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openCatalog } from 'trivet/testing'

const shop = await openCatalog('catalog')
after(async () => await shop.close())

test('converts, and refuses what does not match the schema', async () => {
  const { structuredContent } = await shop.call('convert', { amount: 10, from: 'EUR', to: 'USD' })
  assert.equal(structuredContent.amount, 11)
  assert.equal((await shop.call('convert', { amount: -1, from: 'EUR', to: 'USD' })).isError, true)
})

test('fills a basket, and orders it with a yes', async () => {
  const { structuredContent: { basketId } } = await shop.call('add_to_basket', { product: 'lamp' })
  await shop.call('add_to_basket', { basketId, product: 'desk' })
  const answers = { answer: { action: 'accept', content: { confirm: true } } }
  assert.equal((await shop.call('checkout', { basketId }, { answers })).text, 'Ordered 2 items.')
})

test('has a prompt and a resource', async () => {
  assert.match((await shop.prompt('recommend', { need: 'light' })).text, /needs light/)
  assert.match((await shop.read('file:///returns.md')).text, /30 days/)
})
