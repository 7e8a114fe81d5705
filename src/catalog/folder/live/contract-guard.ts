// Guards clients of a running service against changes that break them: `guard` in server.yaml.

import type { LoadedCatalog } from '../../compiled/catalog.ts'
import { CatalogError, type Problem } from '../../compiled/problem.ts'
import { SERVER_FILE } from '../server-yaml.ts'

/** Finds what a later catalog breaks for clients. */
type FindBreaks = (next: LoadedCatalog) => Promise<Problem[]>

/** Remembers what a catalog offers. Loaded only if a catalog has the guard. */
export type CreateComparison = (root: string, served: LoadedCatalog) => FindBreaks

interface ContractGuardOptions {
  /** The folder of the catalog. */
  readonly root: string
  /** Without it there is no guard. */
  readonly loadComparison: (() => Promise<CreateComparison>) | undefined
  /** Is told of breaks that the catalog wants to be warned of. */
  onBreaks (problems: readonly Problem[]): void
}

export interface ContractGuard {
  /** Rejects with a CatalogError for a catalog that must not take the place of the served one. */
  check (next: LoadedCatalog): Promise<void>
  /** Called when a catalog is served, after its check. */
  accept (served: LoadedCatalog): Promise<void>
}

const REFUSED: Problem = {
  file: SERVER_FILE,
  place: 'guard',
  rule: 'refuses changes that break clients; write "guard: warn" or "guard: off" to accept them'
}

interface GuardedCatalog { readonly mode: 'warn' | 'refuse', readonly findBreaks: FindBreaks }

export function createContractGuard (
  { root, loadComparison, onBreaks }: ContractGuardOptions
): ContractGuard {
  let served: GuardedCatalog | undefined

  // A file of settings that is gone does not turn the guard off: all other files may be gone with it.
  const modeOf = ({ contents }: LoadedCatalog) => contents.server.guard ?? served?.mode ?? 'off'

  return {
    async check (next) {
      const mode = modeOf(next)
      if (served === undefined || mode === 'off') return
      const problems = await served.findBreaks(next)
      if (problems.length === 0) return
      if (mode === 'refuse') throw new CatalogError([...problems, REFUSED])
      onBreaks(problems)
    },
    async accept (loaded) {
      const mode = modeOf(loaded)
      served = mode === 'off' || loadComparison === undefined
        ? undefined
        : { mode, findBreaks: (await loadComparison())(root, loaded) }
    }
  }
}
