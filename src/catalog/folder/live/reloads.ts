// How the reloads of a catalog went.

import { clock } from '../../../base/time.ts'
import { CatalogError, type Problem } from '../../compiled/problem.ts'

export interface ReloadFailure {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The first of the problems. `undefined` if the catalog could not be read at all. */
  readonly problem: Problem | undefined
}

/** The first load does not count: there is no service without it. */
export interface Reloads {
  readonly succeeded: number
  readonly failed: number
  /** When the catalog that is served was loaded, in milliseconds since the epoch. */
  readonly lastSuccessAt: number
  /** Present if the last reload failed. */
  readonly failure?: ReloadFailure | undefined
}

/** Replaced and never changed, so that a reader has facts of one moment. */
export function firstLoad (now = clock.now()): Reloads {
  return { succeeded: 0, failed: 0, lastSuccessAt: now }
}

export function afterSuccess ({ succeeded, failed }: Reloads, now = clock.now()): Reloads {
  return { succeeded: succeeded + 1, failed, lastSuccessAt: now }
}

export function afterFailure (before: Reloads, error: unknown, now = clock.now()): Reloads {
  const problem = error instanceof CatalogError ? error.problems[0] : undefined
  return { ...before, failed: before.failed + 1, failure: { at: now, problem } }
}
