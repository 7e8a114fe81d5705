// What a service gets that runs as a process of its own: what the process knows, and what it may do.

import type { Clock } from '../base/time.ts'
import type { LoadGuard } from '../catalog/compiled/load-guard.ts'
import type { HealthReport } from '../edges/http/readiness.ts'
import type { ServiceLog } from '../ops/log/log.ts'
import type { MemoryLimits } from '../features/overload/pressure.ts'
import type { Observer } from '../request/pipeline/observer.ts'
import type { OpenTransport } from '../features/upstreams/upstreams.ts'
import type { AuthorPage, ServedDesk } from './features.ts'

/** The versions of the service and of Node. */
export interface Build { readonly version: string, readonly node: string }

/** All workers of the service, as one of them sees them. */
export interface Workers {
  /** The number of processes among which the limits of a replica are divided. */
  readonly count: number
  /** Adds up the metrics of all. */
  metrics (): Promise<string>
  /** Reports the parts of all. Ready if one worker is. */
  health (): Promise<HealthReport>
}

/** What the process says about itself. */
export interface ProcessFacts {
  readonly memory?: MemoryLimits | undefined
  /** Present if the service shall measure itself and have an admin app. */
  readonly build?: Build | undefined
  /** Present in one of several workers. */
  readonly workers?: Workers | undefined
  /** The token of operators who change tasks at the admin address. Without it nobody can. */
  readonly adminToken?: string | undefined
  /**
   * Whether the service is for the author of the catalog. The log then shows the arguments and the result of
   * each call. A catalog with problems does not end the start, if its files are watched.
   */
  readonly isForAuthor?: boolean | undefined
}

/** What a test of a catalog gives to the service. */
export interface TestedParts {
  /**
   * Decides when handles, request states, first answers and the counts of calls expire. Sessions do not use
   * it.
   */
  readonly clock?: Clock
  /** Takes the place of the connections to upstreams. */
  readonly openTransport?: OpenTransport | undefined
  /** Is told of each request, beside the log. */
  readonly ownObserver?: Observer
}

/** The dependencies of a service that runs as a process of its own. */
export interface OwnProcess extends ProcessFacts {
  readonly guard: LoadGuard
  /** Takes the place of the option `logger`. */
  readonly log?: ServiceLog
  /** Ends the start when it aborts: all that is open is closed, and `createService` rejects. */
  readonly signal?: AbortSignal
  /** Served beside the endpoint. */
  readonly authorConsole?: AuthorPage | undefined
  readonly desk?: ServedDesk | undefined
}
