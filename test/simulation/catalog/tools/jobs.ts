// Tools that do what their arguments say, each with other rules.

import { defineTool, type Context, type UndoContext } from 'trivet'
import { follow, type Arguments } from '../lib/follow.ts'
import { probe } from '../lib/probe.ts'

const inputSchema = {
  type: 'object',
  properties: { job: { type: 'string' }, program: { type: 'array', items: { type: 'object' } } },
  required: ['job', 'program']
} as const

const scopesOf = ({ principal }: Context) => [...principal.scopes]

async function run (args: Arguments, ctx: Context) {
  const run = probe().called(args.job, scopesOf(ctx))
  try {
    return await follow(args, ctx, run)
  } finally {
    probe().left(args.job, run)
  }
}

/**
 * Undoes in two steps with a sleep between them, which is longer than a lease. Some jobs end the replica, and
 * some cannot be undone, until that is mended. Some take long.
 */
async function undo ({ job, program }: Arguments, ctx: UndoContext) {
  const run = probe().undoing(job, scopesOf(ctx))
  for (const [index, { do: what }] of (program as ReadonlyArray<{ do: string }>).entries()) {
    if (what === 'step') probe().recalled(job, `step-${index}`, ctx.resultOf(`step-${index}`))
  }
  const step = async (key: string) => {
    const value = await ctx.step(key, async () => {
      const begun = probe().begin(job, key, run)
      await probe().pause(job.endsWith('4') ? 20_000 : 500)
      const isImpossible = key === 'undo-2' && job.endsWith('3') && !probe().isMended(job)
      if (isImpossible) throw new Error('this cannot be undone')
      return begun
    })
    probe().acknowledged(job, key, value, run)
  }
  try {
    await step('undo-1')
    probe().sleeping(job, 'undo')
    await ctx.sleep(15_000)
    probe().slept(job, 'undo', 15_000)
    if (job.endsWith('2') && !probe().isMended(job)) await probe().crash(job, 'undo')
    await step('undo-2')
    probe().undone(job)
  } finally {
    probe().left(job, run)
  }
}

async function undoForLong ({ job }: Arguments, ctx: UndoContext) {
  const run = probe().undoing(job, scopesOf(ctx))
  await probe().pause(60_000)
  probe().left(job, run)
}

const common = { description: 'Does a job.', inputSchema, run } as const
const task = { ...common, task: 'required' } as const
const again = { ...task, onReplicaLoss: 'rerun' } as const
const plain = { ...common, task: 'allowed', onReplicaLoss: 'rerun', relayQuestions: true } as const

export const work = defineTool({ ...again, name: 'work' })
export const guarded = defineTool({ ...again, name: 'guarded', scopes: ['work'] })
export const brief = defineTool({ ...again, name: 'brief', ttlMs: 20_000 })
export const single = defineTool({ ...again, name: 'single', limits: { running: 1 } })
export const fragile = defineTool({ ...task, name: 'fragile' })
export const slow = defineTool({ ...plain, name: 'slow' })
export const gentle = defineTool({ ...plain, name: 'gentle', undo })
export const later = defineTool({ ...again, name: 'later' })
export const undone = defineTool({ ...again, name: 'undone', undo })
export const singly = defineTool({ ...again, name: 'singly', limits: { running: 1 }, undo })
export const lapsing = defineTool({ ...again, name: 'lapsing', ttlMs: 20_000, undo })
export const shortly = defineTool({
  ...again, name: 'shortly', ttlMs: 20_000, keepResultMs: 40_000, undo: undoForLong
})
export const strict = defineTool({ ...again, name: 'strict', onDeploy: 'fail' })
