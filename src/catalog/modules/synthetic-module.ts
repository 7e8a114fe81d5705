// Modules whose export names are known before they run: JSON, and the catalog's own CommonJS files.

import type { Getter } from './compiled-module.ts'
import { ModuleRecord, type Resolution } from './module-record.ts'
import type { ModuleHost } from './source-module.ts'

export class SyntheticModule extends ModuleRecord {
  readonly url: string
  readonly file: string
  readonly #values: Map<string, unknown>
  readonly #evaluate: () => ReadonlyMap<string, unknown>
  readonly #host: Pick<ModuleHost, 'noteError'>

  constructor (
    url: string, file: string, names: Iterable<string>, evaluate: () => ReadonlyMap<string, unknown>,
    host: Pick<ModuleHost, 'noteError'>
  ) {
    super()
    this.url = url
    this.file = file
    this.#values = new Map([...names].map((name) => [name, undefined]))
    this.#evaluate = evaluate
    this.#host = host
  }

  override run (): void {
    try {
      for (const [name, value] of this.#evaluate()) this.#values.set(name, value)
    } catch (error) {
      this.#host.noteError(error, this.file)
      throw error
    }
  }

  override exportedNames (): Set<string> {
    return new Set(this.#values.keys())
  }

  override resolveExport (name: string): Resolution {
    return this.#values.has(name) ? { module: this, name } : undefined
  }

  override getterOf (name: string): Getter {
    return () => this.#values.get(name)
  }
}
