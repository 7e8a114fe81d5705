// Modules that Node loads: packages, built-ins, and modules of the service. Node evaluates each once in the
// process, so the service and all graphs share it.

import { withinDeadline } from '../../base/deadline.ts'
import type { Getter } from './compiled-module.ts'
import type { Attributes } from './module-facts.ts'
import { lateError, ModuleRecord, type Resolution } from './module-record.ts'
import { createNamespace, type Namespace } from './namespace.ts'

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

  /** Rejects when the module is not loaded within the deadline. Its work is not cancelled. */
  async load (deadlineMs: number): Promise<void> {
    this.#loading ??= withinDeadline(this.#import(), deadlineMs, () => lateError(deadlineMs)).then(
      (namespace) => { this.#namespace = namespace }
    )
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
    const namespace = this.#namespace
    return namespace === undefined ? () => this.namespace[name] : () => namespace[name]
  }

  override get namespace (): Namespace {
    if (this.#namespace === undefined) throw new Error(`${this.url} is not loaded`)
    return this.#namespace
  }
}

/** The URLs that Node has evaluated for any graph. */
const imported = new Set<string>()

/** @param onLoad called with what the package exports. */
export async function openPackage (
  url: string, attributes: Attributes, deadlineMs: number, onLoad?: (namespace: Namespace) => void
): Promise<PackageModule> {
  const module = new PackageModule(url, async () => {
    const namespace: Namespace = await import(url, { with: attributes })
    imported.add(url)
    onLoad?.(namespace)
    return namespace
  })
  // Loading these has no side effect. Any other package is loaded at its place in the order of evaluation.
  if (url.startsWith('node:') || imported.has(url)) await module.load(deadlineMs)
  return module
}

/**
 * A module of the service. Some of its functions register what they return with the module that imports them:
 * a definition then counts without being exported.
 */
export class ProvidedModule extends PackageModule {
  readonly #registering: ReadonlySet<string>
  readonly #namespaces = new WeakMap<ModuleRecord, Namespace>()

  /** @param registering the names of the functions that register what they return */
  constructor (specifier: string, namespace: Namespace, registering: ReadonlySet<string>) {
    super(specifier, async () => namespace)
    this.#registering = registering
  }

  override namespaceFor (importer: ModuleRecord): Namespace {
    const namespace = this.#namespaces.get(importer) ?? createNamespace(new Map(
      [...this.exportedNames()].map((name) => [name, this.getterFor(importer, name)])
    ))
    this.#namespaces.set(importer, namespace)
    return namespace
  }

  override getterFor (importer: ModuleRecord, name: string | undefined): Getter {
    if (name === undefined || !this.#registering.has(name)) return super.getterFor(importer, name)
    const value = this.namespace[name]
    if (typeof value !== 'function') return () => value
    const register = (...args: unknown[]): unknown => {
      const result: unknown = value(...args)
      importer.register(result)
      return result
    }
    Object.defineProperty(register, 'name', { value: name, configurable: true })
    return () => register
  }
}
