// The dependencies of one load of a catalog, and the requests that may use them.

import type { OpenedDependency } from './opened-dependency.ts'

export class DependencySet {
  readonly #byDefinition: ReadonlyMap<object, OpenedDependency>
  readonly #byName: ReadonlyMap<string, OpenedDependency>
  readonly #onUnused: (set: DependencySet) => void
  #requests = 0
  #isRetired = false
  #isReleased = false

  /**
   * @param byDefinition by the definition that the modules of this load hold
   * @param onUnused called once, when no request can use the dependencies of this load any more
   */
  constructor (
    byDefinition: ReadonlyMap<object, OpenedDependency>, onUnused: (set: DependencySet) => void
  ) {
    this.#byDefinition = byDefinition
    this.#byName = new Map([...byDefinition.values()].map((entry) => [entry.compiled.name, entry]))
    this.#onUnused = onUnused
  }

  get all (): OpenedDependency[] { return [...this.#byName.values()] }

  get (definition: object): OpenedDependency | undefined {
    return this.#byDefinition.get(definition)
  }

  named (name: string): OpenedDependency | undefined {
    return this.#byName.get(name)
  }

  beginRequest (): void { this.#requests++ }

  endRequest (): void {
    this.#requests--
    this.#releaseIfUnused()
  }

  /** Notes that no further request begins. */
  retire (): void {
    this.#isRetired = true
    this.#releaseIfUnused()
  }

  /** Gives the dependencies back. Does not wait for requests. */
  release (): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#onUnused(this)
  }

  #releaseIfUnused (): void {
    if (this.#isRetired && this.#requests === 0) this.release()
  }
}
