// The simulation in CI: each run replays exactly, the plans that once broke a promise break none, and others
// reach every transition of tasks.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Coverage } from './coverage.ts'
import { findStaleEdits } from './mutations.ts'
import type { Plan } from './plan.ts'
import { loadReleases } from './releases.ts'
import { runPlan } from './run-plan.ts'
import { runSeed } from './search.ts'

/** A plan that once broke a promise, or that reaches what seeds seldom reach. */
interface CorpusEntry { readonly what: string, readonly plan: Plan }

const CORPUS: readonly CorpusEntry[] = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8')
)
/** Seeds that reach rare transitions, and then all others: at least so many, and no more than that. */
const SEEDS = {
  first: [433, 58, 7049, 134, 142, 126, 362, 246, 323, 32, 368, 396, 527], least: 60, most: 450
}
const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const releases = await loadReleases()

t.test('a seed replays exactly, in this process and in another one', async (t) => {
  const seed = 7
  const [first, second] = [await runSeed(seed, releases), await runSeed(seed, releases)]
  t.ok(first.trace.length > 100)
  t.equal(first.trace.join('\n'), second.trace.join('\n'))
  const output = execFileSync(process.execPath, [
    '--import=./test/runner/register.mjs', 'test/simulation/simulate.ts', '--seed', String(seed)
  ], { cwd: PROJECT, encoding: 'utf8' })
  t.equal(/^trace (\S+)$/m.exec(output)?.[1], first.digest)
  t.not((await runSeed(seed + 1, releases)).digest, first.digest)
})

t.test('every fault can still be put back', async (t) => t.strictSame(findStaleEdits(PROJECT), []))

const coverage = new Coverage()

for (const { what, plan } of CORPUS) {
  t.test(`a plan breaks no promise: ${what}`, async (t) => {
    const { problem } = await runPlan(plan, releases)
    t.equal(problem, undefined)
  })
}

t.test('no promise is broken, and every transition of tasks is reached', async (t) => {
  const seeds = [...SEEDS.first, ...Array.from({ length: SEEDS.most }, (_, index) => index + 1)]
  const isDone = (count: number) => count >= SEEDS.least && coverage.missing.length === 0
  let events = 0
  for (const [count, seed] of seeds.entries()) {
    if (isDone(count)) break
    const outcome = await runSeed(seed, releases)
    events += outcome.events
    t.equal(outcome.problem, undefined, `npm run simulate -- --seed ${seed}`)
    if (outcome.problem !== undefined) return
  }
  for (const [transition, count] of coverage.counts) t.comment(`${count} ${transition}`)
  t.strictSame(coverage.missing, [])
  t.ok(events > 10_000)
})
