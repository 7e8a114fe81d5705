// Does what a program says, and tells the simulation of it.

import { elicit, ToolError, type Context } from 'trivet'
import type { Operation } from '../../probe.ts'
import { ledgers } from '../handles/ledger.ts'
import { probe } from './probe.ts'

export type Arguments = { readonly job: string, readonly program: readonly unknown[] }

const SCHEMA = { type: 'object', properties: { by: { type: 'string' } }, required: ['by'] } as const
const question = elicit.form({ message: 'Go on?', schema: SCHEMA })
/** What the result has in place of the value of a step that has failed. */
const FAILURE = 'failure'

/** @param run the name of the run. */
export async function follow ({ job, program }: Arguments, ctx: Context, run: string) {
  const values: { [key: string]: string } = {}
  const answers: { [key: string]: unknown } = {}
  const step = async (key: string, ms: number, { isOnce = false, heeds = false } = {}) => {
    const work = async () => {
      const value = probe().begin(job, key, run)
      await probe().pause(ms, heeds ? ctx.signal : undefined)
      return value
    }
    const value = isOnce ? await ctx.once(key, work) : await ctx.step(key, {}, work)
    probe().acknowledged(job, key, value, run)
    values[key] = value
  }
  const fail = async (key: string, ms: number) => {
    const work = async () => {
      probe().begin(job, key, run)
      await probe().pause(ms)
      throw new Error('as the program says')
    }
    await ctx.step(key, work).catch((error: Error) => {
      if (!error.message.includes('as the program says')) throw error
      probe().failed(job, key, run)
      values[key] = FAILURE
    })
  }
  const ask = async (...names: readonly string[]) => {
    const questions = Object.fromEntries(names.map((name) => [name, question]))
    for (const [name, answer] of Object.entries(await ctx.ask(questions))) {
      const by = answer.action === 'accept' ? answer.content.by : answer.action
      probe().answered(job, name, by)
      answers[name] = by
    }
  }
  let sleeps = 0
  const sleep = async (key: string, ms: number) => {
    probe().sleeping(job, key)
    sleeps++
    await ctx.sleep(ms)
    probe().slept(job, key, ms)
  }
  for (const [index, operation] of (program as readonly Operation[]).entries()) {
    const key = `${operation.do}-${index}`
    const [first, second] = [`${key}-a`, `${key}-b`]
    if ('lateMs' in operation) await probe().pause(operation.lateMs ?? 0)
    switch (operation.do) {
      case 'step': await step(key, operation.ms, operation); break
      case 'both': await Promise.all([step(first, operation.ms), step(second, 2 * operation.ms)]); break
      case 'rounds': {
        const { ms, count, isBeside = false } = operation
        const begin = async (round: number, pauseMs: number) => {
          await probe().pause(pauseMs)
          await step(`${key}-${round}`, 0)
        }
        const rounds = Array.from({ length: count }, (_, round) => round)
        if (isBeside) await Promise.all(rounds.map(async (round) => await begin(round, (round + 1) * ms)))
        else for (const round of rounds) await begin(round, ms)
        break
      }
      case 'fail': await fail(key, operation.ms); break
      case 'stray': {
        // A later run knows no sleep here.
        if (probe().strays(job, sleeps)) return { values, answers }
        await sleep(key, operation.ms)
        break
      }
      case 'sleep': await sleep(key, operation.ms); break
      case 'sleeps': await Promise.all([sleep(first, operation.ms), sleep(second, 2 * operation.ms)]); break
      case 'wait': await probe().pause(operation.ms); break
      case 'progress': ctx.progress(index + 1, program.length, key); break
      case 'crash': await probe().crash(job, 'handler'); break
      case 'throw': throw new Error('as the program says')
      case 'refuse': throw new ToolError('as the program says')
      case 'ask': await (operation.questions === 2 ? ask(first, second) : ask(first)); break
      case 'asks': await Promise.all([ask(first), ask(second)]); break
      case 'ask-and-sleep': await Promise.all([ask(first), sleep(key, operation.ms)]); break
      case 'ask-or-sleep': await Promise.race([ask(first), sleep(key, operation.ms)]); break
      case 'ask-and-ask-later':
        await Promise.all([ask(first), sleep(key, operation.ms).then(async () => await ask(second))])
        break
      case 'ask-and-step': await Promise.all([ask(first), step(key, operation.ms)]); break
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
