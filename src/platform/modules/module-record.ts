// Modules that link and evaluate by the specification: cyclic module records (ECMA-262, 16.2.1.6).

import type { Getter } from './compiled-module.ts'
import { createNamespace, type Namespace } from './namespace.ts'

/** The target of an export name. Two bindings are the same if both their modules and their names are. */
export interface Binding {
  readonly module: ModuleRecord
  /** The name within the module; `undefined` for its namespace. */
  readonly name: string | undefined
}

export type Resolution = Binding | 'ambiguous' | undefined

type Status = 'unlinked' | 'linked' | 'evaluating' | 'evaluating-async' | 'evaluated'

export abstract class ModuleRecord {
  /** The requested modules, each once, in the order of the statements. */
  get requested (): readonly ModuleRecord[] { return [] }
  status: Status = 'unlinked'
  #namespace: Namespace | undefined
  readonly evaluation = new Evaluation()
  abstract readonly url: string
  /** Whether `run` returns a promise. */
  readonly isAsync: boolean = false
  /** How long an asynchronous `run` may take. */
  readonly deadlineMs: number = 0
  /** What registering functions returned to this module while its graph was loading. */
  readonly registered: readonly unknown[] = []

  /** Throws a SyntaxError if an import or export cannot be resolved. */
  checkBindings (): void {}
  /** Creates the bindings, which other modules may refer to before this one runs. */
  instantiate (): void {}
  /** Binds the imports. Every requested module is instantiated before. */
  bind (_isEvaluatedLater: (module: ModuleRecord) => boolean): void {}
  /** Resolves when a call of `run` would start the module's code at once. */
  async becomeReady (): Promise<void> {}
  abstract run (): void | Promise<unknown>
  /** Remembers that an error arose in this module. */
  noteError (_error: unknown): void {}
  /** Called with what a registering function returned to this module. */
  register (_value: unknown): void {}
  /** GetExportedNames. */
  abstract exportedNames (exportStarSet?: Set<ModuleRecord>): Set<string>
  /** ResolveExport. */
  abstract resolveExport (name: string, resolveSet?: Map<ModuleRecord, Set<string>>): Resolution
  /**
   * The getter of one of the module's bindings. It throws a ReferenceError before the binding has a value.
   */
  abstract getterOf (name: string): Getter
  /** The namespace object. It exists once the module is linked. */
  get namespace (): Namespace {
    this.#namespace ??= createNamespace(new Map([...this.exportedNames()].flatMap((name) => {
      const resolution = this.resolveExport(name)
      return resolution === undefined || resolution === 'ambiguous'
        ? []
        : [[name, resolution.module.getterFor(this, resolution.name)]]
    })))
    return this.#namespace
  }

  /** The namespace object as this importer gets it. */
  namespaceFor (_importer: ModuleRecord): Namespace {
    return this.namespace
  }

  /** The getter of a binding as this importer gets it. `undefined`: of the namespace object. */
  getterFor (importer: ModuleRecord, name: string | undefined): Getter {
    return name === undefined ? () => this.namespaceFor(importer) : this.getterOf(name)
  }
}

/** The fields of an evaluation, with the specification's names. */
class Evaluation {
  error: { readonly value: unknown } | undefined
  dfsIndex = 0
  dfsAncestorIndex = 0
  cycleRoot: ModuleRecord | undefined
  /** A number while the module or one of its dependencies is being evaluated asynchronously. */
  asyncOrder: number | 'unset' | 'done' = 'unset'
  capability: PromiseWithResolvers | undefined
  readonly asyncParents: ModuleRecord[] = []
  pendingAsyncDependencies = 0
}

export interface PromiseWithResolvers {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** The error of a module that is not loaded within its deadline. */
export function lateError (deadlineMs: number): Error {
  const problem = `is not loaded within ${deadlineMs / 1000} s`
  return new Error(`${problem}; a top-level await may wait for something that never comes`)
}
