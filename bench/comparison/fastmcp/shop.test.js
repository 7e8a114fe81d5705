import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { server } from './shop.js'

const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { confirm: true } }))

let session

before(async () => {
  const [clientTransport, serverTransport] = InMemoryTransport.createLinkedPair()
  const connecting = client.connect(clientTransport)
  session = await server.connect(serverTransport)
  await connecting
})
after(async () => {
  await client.close()
  await session.close()
})

const call = async (name, args) => await client.callTool({ name, arguments: args })

test('converts, and refuses what does not match the schema', async () => {
  const { structuredContent } = await call('convert', { amount: 10, from: 'EUR', to: 'USD' })
  assert.equal(structuredContent.amount, 11)
  await assert.rejects(call('convert', { amount: -1, from: 'EUR', to: 'USD' }), { code: -32602 })
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
