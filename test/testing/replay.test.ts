// A recording of a task, and what today's code of its tool makes of it.

import t, { type Test } from 'tap'
import { createService } from '../../src/app.ts'
import { createLoadGuard } from '../../src/catalog/compiled/load-guard.ts'
import type { ReplayOptions, ReplayResult } from '../../src/testing.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { QUIET } from '../helpers/quiet-options.ts'
import { TaskClient, toFiles } from '../tasks/task-client.ts'
import { open } from './open.ts'

const TOKEN = 'a-token-of-more-than-32-characters'
const FORM = "elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } })"
const OPTIONS = `task: 'required', inputSchema: { type: 'object', properties: { book: { type: 'string' } } }, 
  ttlMs: 86_400_000`

/** A recording, as JSON. */
interface Recorded { readonly [member: string]: unknown }

interface RecordOptions {
  readonly args?: object
  readonly options?: string
  /** The phase in which the task is recorded. */
  readonly phase?: string
  readonly hasValues?: boolean
  /** Answers the task, or lets time pass. */
  readonly drive?: (client: TaskClient, taskId: string, advance: (ms: number) => void) => Promise<unknown>
}

/** Runs a handler as a task, and records it over the admin address. */
async function record (
  t: Test, run: string,
  { args = {}, options = OPTIONS, phase = 'waiting', hasValues = true, drive }: RecordOptions = {}
): Promise<Recorded> {
  const catalog = await writeCatalog(t, toFiles({ work: [options, run] }))
  let offset = 0
  const { app, admin, tasks } = await createService(
    { catalog, ...QUIET },
    { guard: createLoadGuard(), build: { version: '1.2.3', node: '20' }, adminToken: TOKEN },
    { now: () => Date.now() + offset }
  )
  if (admin === undefined) throw new Error('no admin app')
  t.teardown(async () => {
    await app.close()
    await admin.close()
  })
  const client = new TaskClient(app)
  const { taskId } = await client.call('work', args)
  await drive?.(client, taskId, (ms) => {
    offset += ms
    tasks.look()
  })
  const show = async (query = '') => {
    const url = `/tasks/${taskId}${query}`
    return (await admin.inject({ url, headers: { authorization: `Bearer ${TOKEN}` } })).json()
  }
  await until(async () => (await show()).phase === phase, `a task that is ${phase}`)
  return await show(`?recording=1${hasValues ? '&values=1' : ''}`)
}

async function replay (
  t: Test, recording: Recorded, run: string, replayOptions?: ReplayOptions, options = OPTIONS
): Promise<ReplayResult> {
  const catalog = await open(t, toFiles({ work: [options, run] }))
  return await catalog.replay(recording, replayOptions)
}

const ORDER = `async ({ book }, ctx) => {
  const stock = await ctx.step('stock', () => ({ left: 3, book }))
  await ctx.step('note', () => {})
  const { ok } = await ctx.ask({ ok: ${FORM} })
  await ctx.step('pay', () => 'paid')
  await ctx.sleep(3_600_000)
  await ctx.step('send', () => 'sent')
  return book + stock.left + ok.action }`

const answerOk = async (client: TaskClient, taskId: string) => {
  await client.until(taskId, 'input_required')
  await client.ask('tasks/update', { taskId, inputResponses: { ok: { action: 'accept', content: {} } } })
}

t.test('has what the handler came to, in order', async (t) => {
  const recording = await record(t, ORDER, { args: { book: 'moby' }, drive: answerOk })
  t.match(recording, {
    recording: 1,
    trivet: '1.2.3',
    tool: 'work',
    fingerprint: /^.{43}$/,
    status: 'working',
    values: true,
    arguments: { book: 'moby' },
    journal: [
      { kind: 'step', key: 'stock', group: 1, outcome: 'value', value: { left: 3, book: 'moby' } },
      { kind: 'step', key: 'note', group: 2, outcome: 'nothing' },
      { kind: 'ask', key: 'ok', group: 3, outcome: 'value', value: { action: 'accept' } },
      { kind: 'step', key: 'pay', group: 4, outcome: 'value', value: 'paid' },
      { kind: 'sleep', key: '0', group: 5, outcome: 'open' }
    ]
  })
  t.strictSame(await replay(t, recording, ORDER), { fits: true, reached: 5 })
})
