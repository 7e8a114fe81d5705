// Tools that do what their arguments say, each with other rules.

import { defineTool, elicit, type Context, type UndoContext } from 'trivet'
import type { Operation } from '../../probe.ts'
import { ledgers } from '../handles/ledger.ts'
import { probe } from '../lib/probe.ts'

const inputSchema = {
  type: 'object',
  properties: { job: { type: 'string' }, program: { type: 'array', items: { type: 'object' } } },
  required: ['job', 'program']
} as const

const SCHEMA = { type: 'object', properties: { by: { type: 'string' } } } as const
const question = elicit.form({ message: 'Go on?', schema: SCHEMA })

type Arguments = { readonly job: string, readonly program: readonly unknown[] }

async function run (args: Arguments, ctx: Context) {
  probe().called(args.job)
  try {
    return await follow(args, ctx)
  } finally {
    probe().left(args.job)
  }
}

async function follow ({ job, program }: Arguments, ctx: Context) {
  const values: { [key: string]: string } = {}
  const answers: { [key: string]: unknown } = {}
  const step = async (key: string, ms: number, isOnce = false) => {
    const work = async () => {
      const value = probe().begin(job, key)
      await probe().pause(ms)
      return value
    }
    const value = isOnce ? await ctx.once(key, work) : await ctx.step(key, {}, work)
    probe().acknowledged(job, key, value)
    values[key] = value
  }
  const ask = async (names: readonly string[]) => {
    const questions = Object.fromEntries(names.map((name) => [name, question]))
    for (const [name, answer] of Object.entries(await ctx.ask(questions))) {
      answers[name] = answer.action === 'accept' ? answer.content.by : answer.action
    }
  }
  for (const [index, operation] of (program as readonly Operation[]).entries()) {
    const key = `${operation.do}-${index}`
    switch (operation.do) {
      case 'step': await step(key, operation.ms, operation.isOnce); break
      case 'both': await Promise.all([step(`${key}-a`, operation.ms), step(`${key}-b`, 2 * operation.ms)]); break
      case 'sleep': await ctx.sleep(operation.ms); break
      case 'wait': await probe().pause(operation.ms); break
      case 'progress': ctx.progress(index, program.length, key); break
      case 'crash': await probe().crash(job, 'handler'); break
      case 'throw': throw new Error('as the program says')
      case 'ask': await ask(operation.questions === 2 ? [`${key}-a`, `${key}-b`] : [`${key}-a`]); break
      case 'ask-and-sleep': await Promise.all([ask([`${key}-a`]), ctx.sleep(operation.ms)]); break
      case 'handle': {
        await ctx.step(key, { retries: 50, backoffMs: 500 }, async () => (
          (await ctx.handles(ledgers).create([job])).id
        ))
        probe().created(job, key)
      }
    }
  }
  return { values, answers }
}

/**
 * Undoes in two steps with a sleep between them, which is longer than a lease. Some jobs end the replica,
 * some cannot be undone, and some take long.
 */
async function undo ({ job }: Arguments, ctx: UndoContext) {
  probe().undoing(job)
  const step = async (key: string) => {
    const value = await ctx.step(key, async () => {
      const begun = probe().begin(job, key)
      await probe().pause(job.endsWith('4') ? 20_000 : 500)
      return begun
    })
    probe().acknowledged(job, key, value)
  }
  await step('undo-1')
  await ctx.sleep(15_000)
  if (job.endsWith('2')) await probe().crash(job, 'undo')
  if (job.endsWith('3')) throw new Error('this cannot be undone')
  await step('undo-2')
  probe().undone(job)
}

async function undoForLong ({ job }: Arguments) {
  probe().undoing(job)
  await probe().pause(60_000)
}

const common = { description: 'Does a job.', inputSchema, run } as const
const task = { ...common, task: 'required' } as const
const again = { ...task, onReplicaLoss: 'rerun' } as const

export const work = defineTool({ ...again, name: 'work' })
export const guarded = defineTool({ ...again, name: 'guarded', scopes: ['work'] })
export const brief = defineTool({ ...again, name: 'brief', ttlMs: 20_000 })
export const single = defineTool({ ...again, name: 'single', limits: { running: 1 } })
export const fragile = defineTool({ ...task, name: 'fragile' })
export const slow = defineTool({
  ...common, name: 'slow', task: 'allowed', onReplicaLoss: 'rerun', relayQuestions: true
})
export const later = defineTool({ ...again, name: 'later' })
export const undone = defineTool({ ...again, name: 'undone', undo })
export const singly = defineTool({ ...again, name: 'singly', limits: { running: 1 }, undo })
export const shortly = defineTool({
  ...again, name: 'shortly', ttlMs: 20_000, keepResultMs: 40_000, undo: undoForLong
})
export const strict = defineTool({ ...again, name: 'strict', onDeploy: 'fail' })
