// The command of the simulation.
//
//   npm run simulate -- --seed N                 runs the plan of one seed, and prints its trace with --trace
//   npm run simulate -- --seed N --minutes M     runs the plans of N, N + 1, … until one breaks a promise
//   npm run simulate -- --seed N --seeds K       runs K of them
//   … --shrink SECONDS                           how long a smaller plan is looked for, 60 by default
//   npm run simulate -- --plan FILE              runs a plan, as a failure prints it
//   npm run simulate -- --real redis|lmdb|postgres   runs plans against processes of dist: build it first
//   npm run simulate -- --mutations              puts faults back, one at a time in a copy, and finds each
//   npm run simulate -- --mutations NAME         those whose name has the text; --trace prints their plans

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { Coverage } from './coverage.ts'
import { MUTATIONS, writeMutant } from './mutations.ts'
import type { Plan } from './plan.ts'
import { loadReleases } from './releases.ts'
import { isMedium, runReal } from './real/run-real.ts'
import { runPlan } from './run-plan.ts'
import { planOf, runSeed, shrink } from './search.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const { values: options, positionals: [name = ''] } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    plan: { type: 'string' },
    shrink: { type: 'string', default: '60' },
    trace: { type: 'boolean', default: false },
    real: { type: 'string' },
    mutations: { type: 'boolean', default: false }
  }
})
const first = Number(options.seed)

if (options.mutations) findMutations()
else if (options.real !== undefined) await searchReal(options.real)
else if (options.plan === undefined) await search()
else await replay(JSON.parse(readFileSync(options.plan, 'utf8')))

async function replay (plan: Plan): Promise<void> {
  const { problem, trace, digest } = await runPlan(plan, await loadReleases())
  if (options.trace) console.log(trace.join('\n'))
  console.log(`${digest} ${problem ?? 'no promise was broken'}`)
  if (problem !== undefined) process.exitCode = 1
}

async function search (): Promise<void> {
  const coverage = new Coverage()
  const releases = await loadReleases()
  const begin = performance.now()
  const endAt = options.minutes === undefined ? Infinity : begin + Number(options.minutes) * 60_000
  const last = first + Number(options.seeds ?? (options.minutes === undefined ? 1 : Infinity))
  let events = 0
  let seed = first
  for (; seed < last && performance.now() < endAt; seed++) {
    const outcome = await runSeed(seed, releases)
    events += outcome.events
    if (options.trace) console.log(outcome.trace.join('\n'))
    if (last === first + 1) console.log(`trace ${outcome.digest}`)
    if (outcome.problem === undefined) continue
    console.log(`seed ${seed}: ${outcome.problem}`)
    const { problem, plan } = await shrink(seed, releases, 1000 * Number(options.shrink))
    console.log(`A smaller plan: ${problem}\n${JSON.stringify(plan)}`)
    console.log(`Replay it: npm run simulate -- --seed ${seed}`)
    process.exitCode = 1
    return
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  console.log(`seeds ${first} to ${seed - 1}: ${events} events in ${seconds} s, and no promise was broken`)
  for (const [transition, count] of coverage.counts) console.log(`${String(count).padStart(8)} ${transition}`)
  const { missing } = coverage
  console.log(missing.length === 0 ? 'Every transition was reached.' : `Not reached: ${missing.join('; ')}`)
}

/** Runs the first commands of each plan against real processes. Nothing is shrunk: time is real. */
async function searchReal (medium: string): Promise<void> {
  if (!isMedium(medium)) throw new RangeError('--real is redis, lmdb or postgres')
  const done = new Map<string, number>()
  const begin = performance.now()
  let passedOver = 0
  const seeds = Number(options.seeds ?? 1)
  for (let seed = first; seed < first + seeds; seed++) {
    const closers: Array<() => unknown> = []
    const scope = { teardown: (close: () => unknown) => { closers.unshift(close) } }
    const plan = options.plan === undefined ? planOf(seed) : JSON.parse(readFileSync(options.plan, 'utf8'))
    const outcome = await runReal(scope as unknown as Test, plan, medium)
    for (const close of closers) await close()
    if (options.trace) console.log(outcome.trace.join('\n'))
    console.log(`seed ${seed}: ${outcome.problem ?? 'no promise was broken'}`)
    for (const [kind, count] of outcome.done) done.set(kind, (done.get(kind) ?? 0) + count)
    passedOver += outcome.passedOver
    if (outcome.problem !== undefined) process.exitCode = 1
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  const counts = [...done].map(([kind, count]) => `${count} ${kind}`).join(', ')
  console.log(`${seeds} plans over ${medium} in ${seconds} s: ${counts}; ${passedOver} commands passed over`)
}

function findMutations (): void {
  const folder = mkdtempSync(join(tmpdir(), 'trivet-mutant-'))
  for (const mutation of MUTATIONS.filter((one) => one.name.includes(name))) {
    writeMutant(PROJECT, folder, mutation)
    const { stdout, stderr, status } = spawnSync(process.execPath, [
      '--import=./test/runner/register.mjs', 'test/simulation/simulate.ts',
      '--seed', String(mutation.seed ?? first), '--seeds', options.seeds ?? '1000',
      '--shrink', options.trace ? '6' : '0'
    ], { cwd: folder, encoding: 'utf8' })
    const [, seed, problem = ''] = /^seed (\d+): (.*)$/m.exec(stdout) ?? []
    console.log(`${mutation.name}: ${seed === undefined ? 'NOT FOUND' : `seed ${seed}: ${problem}`}`)
    const [plan] = /^\{"seed".*$/m.exec(stdout) ?? []
    if (options.trace && plan !== undefined) console.log(plan)
    if (seed !== undefined) continue
    if (status !== 0) console.log(stderr)
    process.exitCode = 1
  }
  rmSync(folder, { recursive: true })
}
