// The tools that keep baskets, as an author would write them. The tools differ only in their use of state.
// The arguments, the work and the size of the answers are the same.

import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tools } from '../catalog/definitions.mjs'

const BASKETS = fileURLToPath(new URL('baskets.mjs', import.meta.url))
export const COLLECTION = 'tool_0025'

/** The source of `run`, by name of the tool. */
const RUNS = {
  search_statelessly: '({ basketId, ...args }) => ({ ...WORK.search(COLLECTION, args), total: FIRST_COUNT })',
  search_and_read: `async ({ basketId, ...args }, ctx) => {
    const { changes } = await ctx.handles(baskets).read(basketId)
    return { ...WORK.search(COLLECTION, args), total: changes }
  }`,
  search_and_update: `async ({ basketId, ...args }, ctx) => {
    const { changes } = await ctx.handles(baskets).update(basketId, changeBasket)
    return { ...WORK.search(COLLECTION, args), total: changes }
  }`
}

export const STATELESS = 'search_statelessly'
export const READING = 'search_and_read'
export const UPDATING = 'search_and_update'

/** Adds the tools to an existing catalog. */
export async function writeBasketTools (folder) {
  await copyFile(BASKETS, join(folder, 'lib', 'baskets.mjs'))
  await writeFile(join(folder, 'lib', 'handles.ts'), handlesSource())
  await writeFile(join(folder, 'tools', 'create_basket.ts'), createSource())
  for (const [name, run] of Object.entries(RUNS)) {
    await writeFile(join(folder, 'tools', `${name}.ts`), toolSource(name, run))
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
  const basketId = { type: 'string', maxLength: 100, description: 'From create_basket.' }
  const properties = { ...inputSchema.properties, basketId }
  const input = { ...inputSchema, properties, required: [...inputSchema.required, 'basketId'] }
  return `import { defineTool } from 'trivet'
import { changeBasket, FIRST_COUNT } from '../lib/baskets.mjs'
import { baskets } from '../lib/handles.ts'
import { WORK } from '../lib/work.mjs'

const COLLECTION = '${COLLECTION}'

export default defineTool({
  name: '${name}',
  description: 'Searches a collection and returns the entries that match, with a score for each.',
  inputSchema: ${JSON.stringify(input)},
  outputSchema: ${JSON.stringify(outputSchema)},
  run: ${run}
})
`
}
