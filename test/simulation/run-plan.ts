// Runs one plan: its commands while faults last, and then until every task has ended.

import { SimulatedBroadcast, NO_BROADCAST_FAULTS } from './broadcast.ts'
import { Ledgers, Orders } from './models/calls.ts'
import { Cluster } from './cluster.ts'
import { Commands } from './commands.ts'
import { Jobs } from './models/jobs.ts'
import { Network, NO_FAULTS } from './network.ts'
import type { Plan } from './plan.ts'
import type { Probe } from './probe.ts'
import type { Releases } from './releases.ts'
import { SECRETS } from './senders.ts'
import { SimulatedState } from './state.ts'
import { Streams } from './models/streams.ts'
import { World, type ModelWorld } from './world.ts'

export interface RunOutcome {
  /** The promise that was broken. */
  readonly problem: string | undefined
  readonly trace: readonly string[]
  /** A hash of the trace. */
  readonly digest: string
  readonly events: number
}

/** Faults last as long as the commands. All work must end within this time after them, in milliseconds. */
const MAX_CALM_MS = 900_000

export async function runPlan (plan: Plan, releases: Releases): Promise<RunOutcome> {
  const world = new World(String(plan.seed))
  const main = world.createProcess('main')
  const state = new SimulatedState(world)
  const network = new Network(world, state, world.createProcess('network').random, plan.faults)
  network.delayMs = plan.delayMs
  network.snags = plan.snags ?? []
  const broadcast = new SimulatedBroadcast(world, world.createProcess('broadcast').random, plan.broadcast)
  const parts = { world, network, broadcast, releases, random: world.createProcess('cluster').random }
  const work = async () => {
    await world.pause(main, 0)
    const options = Array.from({ length: plan.replicas }, (_, index) => (
      { secrets: SECRETS.both, release: index % 2 === 0 ? 0 : 1 } as const
    ))
    const cluster = new Cluster(parts, options)
    const jobs = new Jobs(world, state, cluster, SECRETS.both)
    const ledgers = new Ledgers(world)
    const orders = new Orders(world, cluster, state.records)
    const streams = new Streams(world, jobs)
    state.onWrite = (text) => jobs.records.check(text)
    state.onSooner = (entry, soonerMs) => jobs.records.checkSooner(entry, soonerMs)
    const probe = createProbe(world, { cluster, jobs, ledgers, orders })
    Reflect.set(globalThis, Symbol.for('trivet.simulation'), probe)
    const commands = new Commands(
      { world, network, cluster, jobs, ledgers, orders, streams }, plan.commands
    )
    for (const command of plan.commands) {
      await world.pause(cluster.client, command.after)
      commands.begin(command)
    }
    world.note('calm')
    network.rates = NO_FAULTS
    network.snags = []
    network.delayMs = 4
    network.awayUntil = Math.min(network.awayUntil, world.now)
    broadcast.rates = NO_BROADCAST_FAULTS
    state.heal()
    cluster.calm(SECRETS.both)
    await commands.finish()
  }
  const maxMs = plan.commands.reduce((sum, { after }) => sum + after, 0) + MAX_CALM_MS
  const isDone = await world.during(work(), maxMs)
  Reflect.deleteProperty(globalThis, Symbol.for('trivet.simulation'))
  if (!isDone && world.violation === undefined) {
    world.fail(`not all tasks have ended ${MAX_CALM_MS} ms after the last fault`)
  }
  const { trace, digest, events, violation } = world
  return { problem: violation?.message, trace, digest, events }
}

/** Tells the models what handlers do. A dead replica does nothing. */
export function createProbe (
  world: ModelWorld & Pick<World, 'pause'>, { cluster, jobs, ledgers, orders }: {
    cluster: Pick<Cluster, 'killCurrent'>, jobs: Jobs, ledgers: Ledgers, orders: Orders
  }
): Probe {
  const unlessDead = (work: () => void) => { if (!world.current.isDead) work() }
  return {
    called: (job, scopes, run?: string) => (
      world.current.isDead ? '' : jobs.runs.called(job, scopes, 'handler', run)
    ),
    left: (job, run) => unlessDead(() => jobs.runs.left(job, run)),
    begin: (job, key, run) => world.current.isDead ? '' : jobs.runs.begin(job, key, run),
    acknowledged: (...step) => unlessDead(() => jobs.runs.acknowledge(...step)),
    failed: (...step) => unlessDead(() => jobs.runs.failed(...step)),
    created: (job, key) => unlessDead(() => ledgers.count(jobs.find(job).sender, `${job} ${key}`)),
    answered: (job, key, by) => unlessDead(() => jobs.questions.get(jobs.find(job), key, by)),
    sleeping: (job, key) => unlessDead(() => jobs.runs.sleeping(job, key)),
    slept: (job, key, ms) => unlessDead(() => jobs.runs.slept(job, key, ms)),
    strays: (job, sleeps) => !world.current.isDead && jobs.strays(job, sleeps),
    isMended: (job) => jobs.find(job).retries > 0,
    undoing: (job, scopes, run?: string) => world.current.isDead ? '' : jobs.undoing(job, scopes, run),
    recalled: (job, key, value) => unlessDead(() => jobs.runs.recalled(job, key, value)),
    undone: (job) => unlessDead(() => { jobs.find(job).isUndone = true }),
    order: (key, caller) => world.current.isDead ? '' : orders.begin(key, caller),
    ordered: (value, hasFailed = false) => unlessDead(() => orders.end(value, hasFailed)),
    pause: async (ms, signal) => await world.pause(world.current, ms, signal),
    async crash (job, by) {
      unlessDead(() => {
        jobs.runs.crash(job, by)
        cluster.killCurrent(`by ${job}`)
      })
      await new Promise(() => {})
    }
  }
}
