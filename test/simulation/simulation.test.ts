// The simulation in CI: each run replays exactly, the plans that once broke a promise break none, and others
// reach every transition of tasks.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Coverage } from './coverage.ts'
import type { Plan } from './plan.ts'
import { loadReleases } from './releases.ts'
import { runPlan } from './run-plan.ts'
import { runSeed } from './search.ts'

/** A plan that once broke a promise, or breaks one if a fault is put back. */
interface CorpusEntry { readonly broke: string, readonly plan: Plan }

const CORPUS: readonly CorpusEntry[] = JSON.parse(
  readFileSync(new URL('corpus.json', import.meta.url), 'utf8')
)
/** At least so many seeds run, and no more than that if a transition is not reached. */
const SEEDS = { least: 100, most: 600 }
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

for (const { broke, plan } of CORPUS) {
  t.test(`a plan breaks nothing that broke this: ${broke}`, async (t) => {
    const { problem } = await runPlan(plan, releases)
    t.equal(problem, undefined)
  })
}

t.test('no promise is broken, and every transition of tasks is reached', async (t) => {
  const coverage = new Coverage()
  const isDone = (seeds: number) => seeds >= SEEDS.least && coverage.missing.length === 0
  let events = 0
  for (let seed = 1; seed <= SEEDS.most && !isDone(seed); seed++) {
    const outcome = await runSeed(seed, releases)
    events += outcome.events
    t.equal(outcome.problem, undefined, `npm run simulate -- --seed ${seed}`)
    if (outcome.problem !== undefined) return
  }
  for (const [transition, count] of coverage.counts) t.comment(`${count} ${transition}`)
  t.strictSame(coverage.missing, [])
  t.ok(events > 10_000)
})
