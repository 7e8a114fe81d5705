// A module of the service. Some of its functions register what they return with the module that imports them:
// a definition then counts without being exported.

import type { Getter } from './compiled-module.ts'
import type { ModuleRecord } from './module-record.ts'
import { createNamespace, type Namespace } from './namespace.ts'
import { PackageModule } from './package-module.ts'

export class ProvidedModule extends PackageModule {
  readonly #registering: ReadonlySet<string>
  readonly #namespaces = new WeakMap<ModuleRecord, Namespace>()

  /** @param registering the names of the functions that register what they return */
  constructor (specifier: string, namespace: Namespace, registering: ReadonlySet<string>) {
    super(specifier, async () => namespace)
    this.#registering = registering
  }

  override namespaceFor (importer: ModuleRecord): Namespace {
    const known = this.#namespaces.get(importer) ?? createNamespace(new Map(
      [...this.exportedNames()].map((name) => [name, this.getterFor(importer, name)])
    ))
    this.#namespaces.set(importer, known)
    return known
  }

  override getterFor (importer: ModuleRecord, name: string | undefined): Getter {
    if (name === undefined || !this.#registering.has(name)) return super.getterFor(importer, name)
    const value = this.namespace[name]
    if (typeof value !== 'function') return () => value
    const register = (...args: unknown[]): unknown => {
      const made: unknown = value(...args)
      importer.register(made)
      return made
    }
    Object.defineProperty(register, 'name', { value: name, configurable: true })
    return () => register
  }
}
