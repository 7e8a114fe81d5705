// One replica: the service from its pipeline down, over the simulated state and broadcast.

import { createTokenWatch } from '../../src/platform/access/token-watch.ts'
import { composeMethods } from '../../src/app/methods.ts'
import type { OpenedState } from '../../src/app/state.ts'
import { openTasks } from '../../src/app/tasks.ts'
import { createCatalog, type Catalog } from '../../src/catalog/compiled/catalog.ts'
import { createScopeGroups } from '../../src/request/pipeline/scope-groups.ts'
import { createCallLimiter } from '../../src/platform/limits/call-limiter.ts'
import { readCallLimits } from '../../src/platform/limits/call-limits.ts'
import { OpenStreams } from '../../src/platform/limits/open-streams.ts'
import { completeConfig } from '../../src/ops/config/config.ts'
import { missingClientCapability } from '../../src/platform/protocol/errors.ts'
import { LIST_NAMES } from '../../src/platform/protocol/notifications.ts'
import { Lifetimes } from '../../src/request/pipeline/lifetimes.ts'
import { Pipeline } from '../../src/request/pipeline/pipeline.ts'
import { createToolRuns } from '../../src/request/pipeline/run-tool.ts'
import { SealedInputRound } from '../../src/request/questions/sealed-input-round.ts'
import { createSubscriptions } from '../../src/platform/store/changes/subscriptions.ts'
import { createSealer } from '../../src/platform/store/sealing/sealer.ts'
import type { ServedTasks } from '../../src/request/pipeline/served-tasks.ts'
import type { SimulatedBroadcast } from './broadcast.ts'
import type { Network, Node } from './network.ts'
import type { Releases } from './releases.ts'
import type { Process, World } from './world.ts'

export const LEASE_MS = 10_000
export const MAX_TASKS = 20
export const MAX_HANDLES = 10
const SHUTDOWN_MS = 5000

const CONFIG = completeConfig({
  stateUrl: 'memory:',
  taskLeaseMs: LEASE_MS,
  maxTasksPerCaller: MAX_TASKS,
  maxHandlesPerCaller: MAX_HANDLES,
  maxCallsPerCaller: 'off',
  shutdownTimeoutMs: SHUTDOWN_MS
})

/** What may differ among the replicas. */
export interface ReplicaOptions {
  /** The first seals, and all open. */
  readonly secrets: readonly string[]
  /** The position in the releases. */
  readonly release: 0 | 1
}

export interface Replica {
  readonly process: Process
  readonly pipeline: Pipeline
  readonly catalog: Catalog
  readonly tasks: ServedTasks
  readonly log: OpenedState['log']
  /** Ends it as SIGTERM does. Resolves when all work here has ended. */
  stop (): Promise<void>
}

interface Surroundings {
  readonly world: World
  readonly network: Network
  readonly broadcast: SimulatedBroadcast
  readonly releases: Releases
}

/** Call it in an event of the process. */
export function openReplica (
  { world, network, broadcast: medium, releases }: Surroundings, node: Node,
  { secrets, release }: ReplicaOptions
): Replica {
  const log = createLog(world)
  const store = network.openStore(node)
  const broadcast = medium.open(node)
  const callCounter = network.openCallCounter()
  const catalog = createCatalog(releases[release])
  const sealer = createSealer(secrets)
  // The parts that nothing here uses are absent: files of the catalog, logged events, dependencies.
  const state = {
    config: CONFIG,
    environment: {},
    log,
    clock: {},
    admitsAnonymous: true,
    backend: { store, broadcast, callCounter, dueTimes: network.openDueTimes(node) },
    sealer,
    catalog
  } as unknown as OpenedState
  const tasks = openTasks(state)
  const lifetimes = new Lifetimes()
  const subscriptions = createSubscriptions(broadcast, {
    keepAliveMs: CONFIG.keepAliveMs, onSlowReader: () => {}
  })
  const { methods, dependencies } = composeMethods(state, {
    subscriptions,
    tasks,
    files: { open () { throw new TypeError('no files here') }, linkTo: () => undefined },
    openStreams: new OpenStreams(CONFIG.maxStreams),
    tokenWatch: createTokenWatch({}),
    scopeGroups: createScopeGroups(catalog),
    changingLists: new Set(LIST_NAMES),
    lists: { noteUse () {}, outdate () {} },
    countHandle: undefined
  })
  const limits = readCallLimits({ running: CONFIG.maxRunningPerCaller })
  const pipeline = new Pipeline({
    lifetimes,
    methods,
    observer: { begin () {}, end () {} },
    limiter: createCallLimiter(callCounter, limits),
    support: {
      era: 'modern',
      snapshotFor: () => catalog.current,
      openRound: (round) => new SealedInputRound({ sealer, ttlMs: CONFIG.requestStateTtlMs }, round),
      toMissingCapability: missingClientCapability
    }
  })
  tasks.start(createToolRuns(catalog, pipeline, dependencies))
  return {
    process: node.process,
    pipeline,
    catalog,
    tasks,
    log,
    async stop () {
      tasks.stopTaking()
      subscriptions.close()
      world.schedule(node.process, SHUTDOWN_MS, () => lifetimes.stopAll())
      await lifetimes.settled()
      await tasks.close()
      await broadcast.close()
    }
  }
}

function createLog (world: World): OpenedState['log'] {
  const warn = (fields: { readonly err?: unknown }, message: string) => {
    const { err } = fields
    world.note(`log ${message}${err instanceof Error ? `: ${err.message}` : ''}`)
  }
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, trace: quiet, warn, error: warn, fatal: warn, child: () => log }
  return log as unknown as OpenedState['log']
}
