import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { handler } from './shop.js'

const client = new Client({ name: 'test', version: '1.0.0' }, {
  capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' }
})
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }))

before(async () => {
  const fetch = async (url, options) => await handler.fetch(new Request(url, options))
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }))
})
after(async () => await client.close())

const call = async (name, args) => await client.callTool({ name, arguments: args })

test('converts, and refuses what does not match the schema', async () => {
  const { structuredContent } = await call('convert', { amount: 10, from: 'EUR', to: 'USD' })
  assert.equal(structuredContent.amount, 11)
  assert.equal((await call('convert', { amount: -1, from: 'EUR', to: 'USD' })).isError, true)
})

test('fills a basket, and orders it with a yes', async () => {
  const { structuredContent: { basketId } } = await call('add_to_basket', { product: 'lamp' })
  await call('add_to_basket', { basketId, product: 'desk' })
  assert.equal((await call('checkout', { basketId })).content[0].text, 'Ordered 2 items.')
})

test('has a prompt and a resource', async () => {
  const { messages } = await client.getPrompt({ name: 'recommend', arguments: { need: 'light' } })
  assert.match(messages[0].content.text, /needs light/)
  assert.match((await client.readResource({ uri: 'file:///returns.md' })).contents[0].text, /30 days/)
})
