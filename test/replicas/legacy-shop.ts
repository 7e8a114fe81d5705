// The example catalog with tools of the tests' own, served by three replicas.

import { cp } from 'node:fs/promises'
import type { Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { startReplicas, type Replica, type Replicas } from '../helpers/replicas.ts'

const EXAMPLE = new URL('../../catalog', import.meta.url)

const FILES = {
  // Works for so many steps, and says which process did.
  'tools/work.ts': `
import { setTimeout as pause } from 'node:timers/promises'
import { defineTool } from 'trivet'
export default defineTool({
  name: 'work', description: 'Takes its time.', order: 20,
  inputSchema: {
    type: 'object',
    properties: { steps: { type: 'integer' }, stepMs: { type: 'integer' } },
    required: ['steps', 'stepMs']
  },
  async run ({ steps, stepMs }, ctx) {
    for (let step = 1; step <= steps; step++) {
      await pause(stepMs, undefined, { signal: ctx.signal })
      ctx.progress(step, steps, [process.pid, step].join(' '))
    }
    return [process.pid, steps].join(' ')
  }
})
`,
  'tools/ask-model.ts': `
import { defineTool, sample } from 'trivet'
export default defineTool({
  name: 'ask_model', description: 'Asks the model of the client.', order: 21,
  inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
  async run ({ question }, ctx) {
    const messages = [{ role: 'user', content: { type: 'text', text: question } }]
    const { advice } = await ctx.ask({ advice: sample({ messages, maxTokens: 10 }) })
    return advice.content.text
  }
})
`,
  // Is not there, which takes so long to find out that there is a stream already.
  'resources/lost.resource.ts': `
import { setTimeout as pause } from 'node:timers/promises'
import { defineResourceTemplate } from 'trivet'
export default defineResourceTemplate({
  uriTemplate: 'lost://{name}', name: 'lost',
  async read (_variables, ctx) { await pause(1300, undefined, { signal: ctx.signal }) }
})
`
}

export interface Shop extends Replicas { readonly catalog: string }

/** Stopped when the test ends. Each replica logs what it has served. */
export async function startShop (
  t: Test, environment: { readonly [variable: string]: string } = {}
): Promise<Shop> {
  const catalog = await writeCatalog(t, FILES)
  await cp(EXAMPLE, catalog, { recursive: true })
  return {
    ...await startReplicas(t, { catalog, environment: { TRIVET_LOG_LEVEL: 'info', ...environment } }), catalog
  }
}

/** How many requests it says that it has served, by their method, of JSON-RPC or else of HTTP. */
export function servedBy ({ stdout }: Replica, method: string): number {
  return stdout().split(`"method":"${method}"`).length - 1
}

/** The replica whose process has this id. */
export function findByPid (replicas: readonly Replica[], pid: string | number): number {
  return replicas.findIndex(({ stdout }) => stdout().includes(`"pid":${pid},`))
}
