// The result of a call was told, and then the store is away: nobody is told that the call is still at work.

import t from 'tap'
import { defineTool } from '../../src/platform/author/define-tool.ts'
import { timers } from '../../src/base/time.ts'
import { CatalogCompiler } from '../../src/catalog/compiled/compile-catalog.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { readCatalog } from '../helpers/load-catalog.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'
import { callOf, textOf } from './plain-client.ts'
import { openPlainWorld, type ToolCall } from './plain-replicas.ts'

/** Longer than a request waits for its call. */
const AWAY_MS = 10_000
/** More than the operations of a request for the result. */
const OPERATIONS = 6

const bakes = defineTool({
  name: 'bakes',
  task: 'allowed',
  async run (_args, ctx) {
    await ctx.sleep(8000)
    return 'baked'
  }
})

for (const way of ['continue_call', 'a repetition with the same key']) {
  t.test(`${way} does not say that a call is at work whose result was told`, async (t) => {
    const { contents } = await readCatalog(await writeCatalog(t, {}))
    const tools = [{ definition: bakes, file: 'tools/bakes.ts', place: 'default', fingerprint: 'code' }]
    const snapshot = await new CatalogCompiler({ pageSize: 1000 }).compile({ ...contents, tools })
    const time = new VirtualTime(t)
    const texts: string[] = []
    for (let at = 0; at < OPERATIONS; at++) {
      const world = openPlainWorld(snapshot)
      const replicas = [world.openReplica(), world.openReplica()]
      const ask = async (call: ToolCall, replica = replicas[0]) => {
        const reply = await time.during(Promise.resolve(replica?.call(call)), 60_000)
        return reply?.result ?? reply?.error ?? {}
      }
      const first = { name: 'bakes', args: {}, key: 'k' }
      const working = await ask(first)
      t.match(textOf(working), /^bakes is still at work\./)
      const next = { name: 'continue_call', args: { call: callOf(working) } }
      const told = await ask(next)
      t.equal(textOf(told), 'baked')
      const replica = replicas[at % 2]
      replica?.fail(at, 'away', AWAY_MS)
      const request = way === 'continue_call' ? next : first
      const again = await ask(request, replica)
      texts.push(textOf(again))
      if (textOf(again) === '') t.match(again, { code: 503 })
      else t.match(textOf(again), /^baked$|^What became of bakes cannot be read now\. .* continue_call/)
      await time.during(timers.pause(AWAY_MS), 60_000)
      t.equal(textOf(await ask(request, replica)), 'baked', 'after the outage')
      await world.close()
    }
    t.ok(texts.some((text) => text.startsWith('What became of')), 'an outage while the request waits')
    t.equal(texts.at(-1), 'baked', 'an outage after the answer')
  })
}
