// What commands are carried out on: a simulated cluster, or a real one.

import type { Ledgers, Orders } from './models/calls.ts'
import type { Cluster } from './cluster.ts'
import type { Jobs } from './models/jobs.ts'
import type { Network } from './network.ts'
import type { Streams } from './models/streams.ts'
import type { ModelWorld, World } from './world.ts'

export interface CommandParts {
  readonly world: ModelWorld & Pick<World, 'pause'>
  readonly network: Pick<Network, 'awayAt' | 'awayUntil' | 'splitAt'> & {
    readonly state: Pick<Network['state'], 'split' | 'heal' | 'failOver'>
  }
  readonly cluster: Pick<
    Cluster,
    'client' | 'send' | 'listen' | 'kill' | 'pause' | 'cut' | 'restart' | 'reload' | 'setClock' | 'retry'
  >
  readonly jobs: Jobs
  readonly ledgers: Ledgers
  readonly orders: Orders
  readonly streams: Streams
}
