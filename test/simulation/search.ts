// Runs the plans of seeds. Shrinks a plan that breaks a promise.

import fc from 'fast-check'
import { plans, type Plan } from './plan.ts'
import type { Releases } from './releases.ts'
import { runPlan, type RunOutcome } from './run-plan.ts'

/** A plan that has broken a promise. */
export interface Failure {
  readonly seed: number
  readonly problem: string
  /** The smallest plan that breaks one. */
  readonly plan: Plan
}

export function planOf (seed: number): Plan {
  const [plan] = fc.sample(plans, { seed, numRuns: 1 })
  if (plan === undefined) throw new TypeError('fast-check has made no plan')
  return plan
}

export async function runSeed (seed: number, releases: Releases): Promise<RunOutcome> {
  return await runPlan(planOf(seed), releases)
}

/** @param maxMs how long smaller plans are looked for. */
export async function shrink (seed: number, releases: Releases, maxMs: number): Promise<Failure> {
  const failures: Failure[] = []
  /** A smaller plan with another problem would lead away from this one. */
  let kind: string | undefined
  const property = fc.asyncProperty(plans, async (plan) => {
    const { problem } = await runPlan(plan, releases)
    if (problem === undefined || (kind !== undefined && toKind(problem) !== kind)) return true
    kind = toKind(problem)
    failures.push({ seed, problem, plan })
    return false
  })
  await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit: maxMs })
  const last = failures.at(-1)
  if (last === undefined) throw new Error(`seed ${seed} breaks nothing now: the simulation is not deterministic`)
  return last
}

/** A problem without the names in it. */
function toKind (problem: string): string { return problem.replace(/\S*[\d_]\S*/g, '') }
