// A module that Node loads: a package, a built-in, or a module of the service. Node evaluates it once in the
// process, so the service and all graphs share it.

import type { Getter } from './compiled-module.ts'
import { loadInTime } from './deadline.ts'
import { ModuleRecord, type Resolution } from './module-record.ts'
import type { Namespace } from './namespace.ts'

export class PackageModule extends ModuleRecord {
  readonly url: string
  #namespace: Namespace | undefined
  #loading: Promise<void> | undefined
  readonly #import: () => Promise<Namespace>

  constructor (url: string, load: () => Promise<Namespace>) {
    super()
    this.url = url
    this.#import = load
  }

  /** Node links and evaluates in one step. Before it, the names of the exports are not known. */
  get isLoaded (): boolean {
    return this.#namespace !== undefined
  }

  async load (deadlineMs: number): Promise<void> {
    this.#loading ??= loadInTime(this.#import(), deadlineMs).then((namespace) => {
      this.#namespace = namespace
    })
    await this.#loading
  }

  override run (): void {}

  override exportedNames (): Set<string> {
    return new Set(Object.keys(this.namespace))
  }

  /** Until the package is loaded, every name is assumed to exist. */
  override resolveExport (name: string): Resolution {
    return this.#namespace === undefined || name in this.#namespace ? { module: this, name } : undefined
  }

  override getterOf (name: string): Getter {
    const known = this.#namespace
    return known === undefined ? () => this.namespace[name] : () => known[name]
  }

  override get namespace (): Namespace {
    if (this.#namespace === undefined) throw new Error(`${this.url} is not loaded`)
    return this.#namespace
  }
}
