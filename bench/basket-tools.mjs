// Tools that differ in nothing but their use of state: the same arguments, the same work, answers of one size.

import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { FIRST_COUNT } from './baskets.mjs'
import { tools } from './data.mjs'
import { ask, modernRequest } from './requests.mjs'
import { search } from './search.mjs'

const BASKETS = fileURLToPath(new URL('baskets.mjs', import.meta.url))
const COLLECTION = 'tool_0025'
const ARGUMENTS = { query: 'three legs', limit: 10, sort: 'newest', tags: ['iron', 'kitchen'], archived: false }

/** By name, what `run` is. The first is the tool of the section on calls, but for an argument that it does not look at. */
const RUNS = {
  search_statelessly: '({ basketId, ...args }) => ({ ...search(COLLECTION, args), total: FIRST_COUNT })',
  search_and_read: `async ({ basketId, ...args }, ctx) => {
    const { changes } = await ctx.handles(baskets).read(basketId)
    return { ...search(COLLECTION, args), total: changes }
  }`,
  search_and_update: `async ({ basketId, ...args }, ctx) => {
    const { changes } = await ctx.handles(baskets).update(basketId, changeBasket)
    return { ...search(COLLECTION, args), total: changes }
  }`
}

export const STATELESS = 'search_statelessly'
export const READING = 'search_and_read'
export const UPDATING = 'search_and_update'

/** Adds them to a catalog that there is. */
export async function writeBasketTools (folder) {
  await copyFile(BASKETS, join(folder, 'lib', 'baskets.mjs'))
  await writeFile(join(folder, 'lib', 'handles.ts'), handlesSource())
  await writeFile(join(folder, 'tools', 'create_basket.ts'), createSource())
  for (const [name, run] of Object.entries(RUNS)) await writeFile(join(folder, 'tools', `${name}.ts`), toolSource(name, run))
}

/** Makes a basket, and returns its id. */
export async function createBasket (url) {
  const request = modernRequest('tools/call', { name: 'create_basket', arguments: {} })
  const answer = await ask(url, { ...request, isRight: ({ structuredContent }) => structuredContent.basketId.startsWith('bsk_') })
  return JSON.parse(answer).result.structuredContent.basketId
}

/** How often a basket was changed. */
export async function countChanges (url, basketId) {
  const answer = await ask(url, searchRequest(READING, [basketId]))
  return JSON.parse(answer).result.structuredContent.total - FIRST_COUNT
}

/** Calls of one of the tools, a body for each basket. */
export function searchRequest (name, basketIds) {
  const requests = basketIds.map((basketId) => modernRequest('tools/call', { name, arguments: { ...ARGUMENTS, basketId } }))
  return {
    ...requests[0],
    variants: requests.map(({ body }) => ({ body })),
    isRight: ({ structuredContent: { hits, total } }) => total >= FIRST_COUNT && isDeepStrictEqual(hits, search(COLLECTION, ARGUMENTS).hits)
  }
}

function handlesSource () {
  return `import { defineHandle } from 'trivet'
import { BASKET } from './baskets.mjs'

export const baskets = defineHandle({ ...BASKET, createdBy: 'create_basket' })
`
}

function createSource () {
  return `import { defineTool } from 'trivet'
import { newBasket } from '../lib/baskets.mjs'
import { baskets } from '../lib/handles.ts'

export default defineTool({
  name: 'create_basket',
  description: 'Makes a basket.',
  run: async (_args, ctx) => ({ basketId: (await ctx.handles(baskets).create(newBasket())).id })
})
`
}

function toolSource (name, run) {
  const [{ inputSchema, outputSchema }] = tools(1)
  const properties = { ...inputSchema.properties, basketId: { type: 'string', maxLength: 100, description: 'From create_basket.' } }
  return `import { defineTool } from 'trivet'
import { changeBasket, FIRST_COUNT } from '../lib/baskets.mjs'
import { baskets } from '../lib/handles.ts'
import { search } from '../lib/search.mjs'

const COLLECTION = '${COLLECTION}'

export default defineTool({
  name: '${name}',
  description: 'Searches a collection and returns the entries that match, with a score for each and a number.',
  inputSchema: ${JSON.stringify({ ...inputSchema, properties, required: [...inputSchema.required, 'basketId'] })},
  outputSchema: ${JSON.stringify(outputSchema)},
  run: ${run}
})
`
}
