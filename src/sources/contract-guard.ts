// Guards clients of a running service against changes that break them: `guard` in server.yaml.

import type { LoadedCatalog } from '../catalog/named-changes.ts'
import { CatalogError, type Problem } from '../catalog/problem.ts'
import { SERVER_FILE } from './server-yaml.ts'

/** What breaks clients. Loaded only if a catalog has the guard. */
export interface ContractRules {
  createComparison (root: string, served: LoadedCatalog): (next: LoadedCatalog) => Promise<Problem[]>
}

interface ContractGuardOptions {
  /** The folder of the catalog. */
  readonly root: string
  /** Without it there is no guard. */
  readonly loadRules: (() => Promise<ContractRules>) | undefined
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

interface GuardedCatalog {
  readonly mode: 'warn' | 'refuse'
  findBreaks (next: LoadedCatalog): Promise<Problem[]>
}

export function createContractGuard ({ root, loadRules, onBreaks }: ContractGuardOptions): ContractGuard {
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
      served = mode === 'off' || loadRules === undefined
        ? undefined
        : { mode, findBreaks: (await loadRules()).createComparison(root, loaded) }
    }
  }
}
