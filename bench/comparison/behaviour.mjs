// What a shop must do, and what it can do beyond that.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '../state/redis.mjs'
import { connect, serveShop } from './served-shop.mjs'

const MODERN = { pin: '2026-07-28' }
const ORDERED = 'Ordered 2 items.'
const RELOAD_TIMEOUT_MS = 10_000
const EXCHANGE = { name: 'convert', arguments: { amount: 10, from: 'EUR', to: 'USD' } }

/** Throws if the shop does not do what all contenders must do. */
export async function assertWorks (url) {
  const client = await connect(url, 'auto')
  const names = (await client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), ['add_to_basket', 'checkout', 'convert'])
  assert.equal((await client.callTool(EXCHANGE)).structuredContent.amount, 11)
  assert.equal(await isRefused(client, { ...EXCHANGE.arguments, amount: -1 }), true, 'a wrong argument')
  assert.equal(await order(client), ORDERED)
  const { messages } = await client.getPrompt({ name: 'recommend', arguments: { need: 'light' } })
  assert.match(messages[0].content.text, /needs light/)
  assert.match((await client.readResource({ uri: 'file:///returns.md' })).contents[0].text, /30 days/)
  await client.close()
}

/** As a tool error, or as an error of the protocol. */
async function isRefused (client, args) {
  const call = client.callTool({ name: 'convert', arguments: args })
  return await call.then(({ isError }) => isError === true, () => true)
}

async function order (client) {
  const basketId = await fillBasket(client)
  await client.callTool({ name: 'add_to_basket', arguments: { basketId, product: 'desk' } })
  return (await client.callTool({ name: 'checkout', arguments: { basketId } })).content[0].text
}

async function fillBasket (client) {
  const filled = await client.callTool({ name: 'add_to_basket', arguments: { product: 'lamp' } })
  return filled.structuredContent.basketId
}

/** Whether a tool can ask its user, for a client of this kind. */
async function canAsk (url, mode) {
  return await succeeds(async () => {
    const client = await connect(url, mode)
    const said = await order(client)
    await client.close()
    return said === ORDERED
  })
}

export const canAskModern = (url) => canAsk(url, MODERN)
export const canAskEarlier = (url) => canAsk(url, 'legacy')

/** Whether a basket of one process is known to the next, which runs after it. */
export async function survivesRestart (contender, folder) {
  const before = await serveShop(contender, folder)
  const basketId = await fillBasket(await connect(before.url, 'auto'))
  await before.stop()
  const after = await serveShop(contender, folder)
  const isKnown = await knows(after.url, basketId)
  await after.stop()
  return isKnown
}

/** Whether a basket of one process is known to another one beside it. `undefined`: there is no Redis here. */
export async function isShared (contender, folder) {
  const redis = await startRedis()
  if (redis === undefined) return undefined
  const settings = { TRIVET_STATE_URL: redis.url, TRIVET_SECRETS: 'a secret for the time of one comparison' }
  const one = await serveShop(contender, folder, settings)
  const other = await serveShop(contender, folder, settings)
  const isKnown = await knows(other.url, await fillBasket(await connect(one.url, 'auto')))
  await Promise.all([one.stop(), other.stop()])
  await redis.stop()
  return isKnown
}

async function knows (url, basketId) {
  const client = await connect(url, 'auto')
  const request = { name: 'add_to_basket', arguments: { basketId, product: 'desk' } }
  const { isError, structuredContent } = await client.callTool(request)
  return isError !== true && structuredContent.items.length === 2
}

/** Whether the running process serves an edited tool. */
export async function reloads ({ rates }, folder, url) {
  const file = join(folder, rates)
  const client = await connect(url, 'auto')
  await writeFile(file, (await readFile(file, 'utf8')).replace('USD: 1.1', 'USD: 1.2'))
  const deadline = performance.now() + RELOAD_TIMEOUT_MS
  while (performance.now() < deadline) {
    if ((await client.callTool(EXCHANGE)).structuredContent.amount === 12) return true
    await sleep(200)
  }
  return false
}

async function succeeds (attempt) {
  return await attempt().catch(() => false)
}
