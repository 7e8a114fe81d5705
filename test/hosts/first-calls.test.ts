// Two first calls with one key, at two replicas: whenever the second one comes, one of them does the work.

import t from 'tap'
import { defineTool } from '../../src/platform/author/define-tool.ts'
import { timers } from '../../src/base/time.ts'
import { CatalogCompiler } from '../../src/catalog/compiled/compile-catalog.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { readCatalog } from '../helpers/load-catalog.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'
import { textOf } from './plain-client.ts'
import { openPlainWorld } from './plain-replicas.ts'

/** The operations of the store from the begin of a call to its result. */
const OPERATIONS = 10

const orders: string[] = []

/** Orders in a step: before it the call is kept. */
const keeps = defineTool({
  name: 'keeps',
  task: 'allowed',
  async run (_args, ctx) {
    return await ctx.step('order', async () => {
      await timers.pause(100)
      return `order ${orders.push('keeps')}`
    })
  }
})

/** Orders at once: the call has a first answer. */
const answers = defineTool({
  name: 'answers',
  annotations: { idempotentHint: true },
  dedupe: true,
  async run () {
    await timers.pause(100)
    return `order ${orders.push('answers')}`
  }
})

for (const definition of [keeps, answers]) {
  t.test(`two first calls of one key do the work once: ${definition.name}`, async (t) => {
    const { contents } = await readCatalog(await writeCatalog(t, {}))
    const tools = [{ definition, file: 'tools/one.ts', place: 'default', fingerprint: 'code' }]
    const snapshot = await new CatalogCompiler({ pageSize: 1000 }).compile({ ...contents, tools })
    const time = new VirtualTime(t)
    for (let at = 0; at < OPERATIONS; at++) {
      orders.length = 0
      const world = openPlainWorld(snapshot)
      const [first, second] = [world.openReplica(), world.openReplica()]
      const call = { name: definition.name, args: {}, key: 'k' }
      // The first one waits within the operation of this number for longer than the second one takes.
      first.delay(at, 1000)
      const calling = first.call(call)
      const other = second.call(call)
      const replies = await time.during(Promise.all([calling, other]), 60_000)
      const texts = replies.map((reply) => textOf(reply?.result ?? {}))
      t.strictSame(texts, ['order 1', 'order 1'], `operation ${at}`)
      t.equal(orders.length, 1, `operation ${at}`)
      await world.close()
    }
  })
}
