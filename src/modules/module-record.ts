// Modules that link and evaluate by the specification's algorithms: cyclic module records (ECMA-262,
// 16.2.1.6).

import type { Getter } from './compiled-module.ts'
import type { Namespace } from './namespace.ts'

/** What an export name leads to. Two resolutions are the same where module and name are. */
export interface Binding {
  readonly module: ModuleRecord
  /** The name within the module; `undefined` for its namespace. */
  readonly name: string | undefined
}

export type Resolution = Binding | 'ambiguous' | undefined

export type Status = 'unlinked' | 'linked' | 'evaluating' | 'evaluating-async' | 'evaluated'

export abstract class ModuleRecord {
  /** The modules that it requests, each once, in the order of its statements. */
  get requested (): readonly ModuleRecord[] { return [] }
  status: Status = 'unlinked'
  readonly evaluation = new Evaluation()
  abstract readonly url: string
  /** Whether `run` ends later than it returns. */
  readonly isAsync: boolean = false
  /** How long an asynchronous run may take. */
  readonly deadlineMs: number = 0

  /** Throws a SyntaxError where an import or export leads nowhere. */
  checkBindings (): void {}
  /** Makes what can be referred to before the module runs. */
  instantiate (): void {}
  /** Gives the module what it imports. Every module that it requests is instantiated. */
  bind (_isEvaluatedLater: (module: ModuleRecord) => boolean): void {}
  /** Waits until `run` starts at once. */
  async becomeReady (): Promise<void> {}
  abstract run (): void | Promise<unknown>
  /** Remembers that an error arose here. */
  noteError (_error: unknown): void {}
  /** GetExportedNames. */
  abstract exportedNames (seen?: Set<ModuleRecord>): Set<string>
  /** ResolveExport. */
  abstract resolveExport (name: string, seen?: Map<ModuleRecord, Set<string>>): Resolution
  /** Reads a binding of its own. Throws a ReferenceError where it has no value yet. */
  abstract getterOf (name: string): Getter
  /** The namespace object, which exists once the module is linked. */
  abstract get namespace (): Namespace
}

/** The fields that evaluation needs, by the specification's names. */
class Evaluation {
  error: { readonly value: unknown } | undefined
  dfsIndex = 0
  dfsAncestorIndex = 0
  cycleRoot: ModuleRecord | undefined
  /** A number while the module, or what it waits for, is being evaluated asynchronously. */
  asyncOrder: number | 'unset' | 'done' = 'unset'
  capability: PromiseWithResolvers | undefined
  readonly asyncParents: ModuleRecord[] = []
  pendingAsyncDependencies = 0
}

/** The promise that those who wait for a module get, and its two ends. */
export interface PromiseWithResolvers {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}
