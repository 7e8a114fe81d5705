// A module that Node loads: a package, a built-in, or what the service gives. Node evaluates it once for the
// process, so that it is shared with the service and with every other graph.

import type { Getter } from './compiled-module.ts'
import { withinDeadline } from './deadline.ts'
import { ModuleRecord, type Resolution } from './module-record.ts'
import type { Namespace } from './namespace.ts'

export class PackageModule extends ModuleRecord {
  readonly url: string
  #namespace: Namespace | undefined
  #loading: Promise<void> | undefined
  readonly #import: () => Promise<Namespace>

  /** @param namespace known where Node has loaded the module before. */
  constructor (url: string, load: () => Promise<Namespace>, namespace?: Namespace) {
    super()
    this.url = url
    this.#import = load
    this.#namespace = namespace
  }

  /** Node links and evaluates in one step: until then nobody knows the names of its exports. */
  get isLoaded (): boolean {
    return this.#namespace !== undefined
  }

  async load (deadlineMs: number): Promise<void> {
    this.#loading ??= withinDeadline(this.#import(), deadlineMs).then((namespace) => {
      this.#namespace = namespace
    })
    await this.#loading
  }

  override run (): void {}

  override exportedNames (): Set<string> {
    return new Set(Object.keys(this.namespace))
  }

  /** Before it is loaded, every name is taken to be there. */
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
