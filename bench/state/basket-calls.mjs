// Calls the tools that keep baskets.

import { isDeepStrictEqual } from 'node:util'
import { WORK } from '../catalog/work.mjs'
import { ask } from '../requests/answers.mjs'
import { createParams } from '../requests/arguments.mjs'
import { ID_MIXES } from '../requests/ids.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { createRandom } from '../requests/random.mjs'
import { CONNECTIONS, forServer, toRing } from '../requests/rings.mjs'
import { COLLECTION, READING } from './basket-sources.mjs'
import { FIRST_COUNT } from './baskets.mjs'

/** Baskets of each connection. Connections share no baskets, because a basket belongs to one conversation. */
const BASKETS_EACH = 8
const REQUESTS_EACH = 256

/** Creates the baskets of all connections, and returns their ids. */
export async function createBaskets (url) {
  const ids = []
  while (ids.length < CONNECTIONS * BASKETS_EACH) {
    const params = { name: 'create_basket', arguments: {} }
    ids.push((await ask(url, modernRequest('tools/call', params))).structuredContent.basketId)
  }
  return ids
}

/** The number of changes of all baskets together. */
export async function countChanges (url, basketIds) {
  let changes = 0
  for (const basketId of basketIds) {
    const params = { name: READING, arguments: { query: 'x', basketId } }
    changes += (await ask(url, modernRequest('tools/call', params))).structuredContent.total - FIRST_COUNT
  }
  return changes
}

/** Makes calls of one of the tools. Each connection has its own baskets. */
export function basketRings (name, basketIds, ids) {
  const paramsOf = createParams('tools/call', 1)
  return forServer(Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(connection)
    return toRing(Array.from({ length: REQUESTS_EACH }, (_, place) => {
      const id = ID_MIXES[ids](place, random)
      const basketId = basketIds[connection * BASKETS_EACH + place % BASKETS_EACH]
      return modernRequest('tools/call', { name, arguments: { ...paramsOf(random).arguments, basketId } }, id)
    }))
  }))
}

export const BASKET_CHECKS = {
  'tools/call': ({ structuredContent: { hits, total } }, { arguments: { basketId, ...args } }) => (
    total >= FIRST_COUNT && isDeepStrictEqual(hits, WORK.search(COLLECTION, args).hits)
  )
}
