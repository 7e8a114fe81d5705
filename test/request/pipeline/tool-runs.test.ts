// A later run of a task's tool, on a replica whose catalog is replaced between the look and the run.

import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import type { Snapshot } from '../../../src/catalog/compiled/snapshot.ts'
import type { Outlet } from '../../../src/request/pipeline/caller.ts'
import { RequestCancelled } from '../../../src/request/pipeline/lifetime.ts'
import { Lifetimes } from '../../../src/request/pipeline/lifetimes.ts'
import { Pipeline } from '../../../src/request/pipeline/pipeline.ts'
import { createToolRuns } from '../../../src/request/pipeline/run-tool.ts'
import type { ToolRun } from '../../../src/request/pipeline/seams.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

const toTool = (args = '{}', more = '') => `import { defineTool } from 'trivet'
export default defineTool({
  name: 'later', description: 'Later', inputSchema: { type: 'object', properties: ${args} },
  task: 'allowed', ${more} async run () { return 'done' }
})`
const load = async (t: Test, source?: string) => await loadSnapshot(await writeCatalog(
  t, source === undefined ? {} : { 'tools/later.ts': source }
))

class Deferral extends RequestCancelled {}

/** Asks whether the tool is accepted, replaces the catalog, and runs the tool. Resolves to the error. */
async function runAfterReload (t: Test, before: Snapshot, after: Snapshot, undone?: ToolRun['undone']) {
  let current = before
  const quiet = () => {}
  const pipeline = new Pipeline({
    lifetimes: new Lifetimes(),
    methods: [],
    observer: { begin: quiet, end: quiet },
    limiter: { admit: quiet },
    support: {
      era: 'modern',
      snapshotFor: () => current,
      openRound: () => ({}) as never,
      toMissingCapability: () => new Error('nothing is missing')
    }
  })
  const runs = createToolRuns({ get current () { return current } }, pipeline, {} as never)
  t.ok(await runs.accepts('later', { count: 1 }, undone !== undefined))
  current = after
  return await new Promise<Error>((resolve) => {
    runs.run({
      tool: 'later',
      args: { count: 1 },
      caller: {
        principal: ANONYMOUS,
        envelope: { revision: '2026-07-28', clientCapabilities: {} },
        requestId: 'r',
        log: { child: () => ({}), warn: quiet }
      } as never,
      journal: {} as never,
      timeoutMs: 1000,
      undone,
      outlet: {
        onPending: quiet,
        notify: quiet,
        succeed: (json: string) => resolve(new Error(`succeeded: ${json}`)),
        fail: resolve,
        leaveUnanswered: () => resolve(new Deferral())
      } as unknown as Outlet,
      toDeferral: (seconds) => seconds === undefined ? new Deferral() : new Error('a limit')
    })
  })
}

t.test('a tool that a reload took away is run by another replica', async (t) => {
  const error = await runAfterReload(t, await load(t, toTool()), await load(t))
  t.type(error, Deferral)
})

t.test('a tool whose arguments a reload has changed is run by another replica', async (t) => {
  const changed = toTool('{ count: { type: \'string\' } }')
  t.type(await runAfterReload(t, await load(t, toTool()), await load(t, changed)), Deferral)
})

t.test('an undo that a reload took away is run by another replica', async (t) => {
  const before = await load(t, toTool('{}', 'async undo () {},'))
  t.type(await runAfterReload(t, before, await load(t, toTool()), { resultOf () {} }), Deferral)
})

t.test('a tool that the kept scopes do not reach any more fails the task', async (t) => {
  const scoped = toTool('{}', 'scopes: [\'admin\'],')
  const error = await runAfterReload(t, await load(t, toTool()), await load(t, scoped))
  t.match(error, { code: -32602, message: 'Tool later not found' })
})
