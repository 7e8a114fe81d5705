// A module of the catalog: a source text module record (ECMA-262, 16.2.1.7).

import type { CompiledModule, Getter, Steps } from './compiled-module.ts'
import { ALL, type ModuleRequest, type RequestedName } from './module-facts.ts'
import { ModuleRecord, type Binding, type Resolution } from './module-record.ts'
import { syntaxError } from './syntax.ts'

/** The members of a graph that its modules use. */
export interface ModuleHost {
  createMeta (url: string): object
  /** Does the work of `import()`. */
  importFrom (importer: ModuleRecord, specifier: unknown, options: unknown): Promise<unknown>
  /** Remembers in which module an error arose. */
  noteError (error: unknown, file: string): void
  readonly deadlineMs: number
  /** Whether what modules register still counts. */
  readonly isLoading: boolean
}

const NO_BINDINGS: ReadonlyMap<string, Binding> = new Map()

export class SourceModule extends ModuleRecord {
  readonly url: string
  readonly file: string
  override readonly isAsync: boolean
  override readonly deadlineMs: number
  readonly compiled: CompiledModule
  #host: ModuleHost
  readonly #requested = new Map<ModuleRequest, ModuleRecord>()
  #requestedOnce: readonly ModuleRecord[] | undefined
  /** Until they are bound. */
  #bindings: ReadonlyMap<string, Binding> = NO_BINDINGS
  readonly #imports: object = Object.create(IMPORTS)
  readonly #getters = new Map<string, Getter>()
  #steps: Steps | undefined
  #firstStep: unknown
  override readonly registered: unknown[] = []
  /**
   * Whether the module has a function that registered something when another module called it. The call is
   * repeated only if both modules are evaluated again.
   */
  registersForOthers = false

  constructor (url: string, file: string, compiled: CompiledModule, host: ModuleHost) {
    super()
    this.url = url
    this.file = file
    this.compiled = compiled
    this.isAsync = compiled.isAsync
    this.deadlineMs = host.deadlineMs
    this.#host = host
  }

  override get requested (): readonly ModuleRecord[] {
    this.#requestedOnce ??= [...new Set(this.#requested.values())]
    return this.#requestedOnce
  }

  override register (value: unknown): void {
    // A handler that registers something at each request must not fill the memory.
    if (!this.#host.isLoading) return
    if (this.status === 'evaluated') this.registersForOthers = true
    this.registered.push(value)
  }

  requestedBy (request: ModuleRequest): ModuleRecord | undefined {
    return this.#requested.get(request)
  }

  /** Makes an evaluated module part of another graph. The graph that evaluated it can then be collected. */
  adopt (host: ModuleHost): void {
    this.#host = host
    this.evaluation.asyncParents.length = 0
  }

  setRequested (request: ModuleRequest, module: ModuleRecord): void {
    this.#requested.set(request, module)
    this.#requestedOnce = undefined
  }

  override checkBindings (): void {
    for (const target of this.compiled.indirectExports.values()) this.#resolve(target)
    this.#bindings = new Map(
      [...this.compiled.imports].map(([local, target]) => [local, this.#resolve(target)])
    )
  }

  override instantiate (): void {
    const defaultExport = new DefaultExport()
    const { body, localExports, usesMeta } = this.compiled
    const load = async (specifier: unknown, options?: unknown) =>
      await this.#host.importFrom(this, specifier, options)
    const define = (getters: { readonly [name: string]: Getter }, anonymous?: unknown) => {
      if (typeof anonymous === 'function') nameDefault(anonymous)
      for (const [name, local] of localExports) {
        this.#getters.set(local, getters[name] ?? defaultExport.get)
      }
    }
    const meta = usesMeta ? this.#host.createMeta(this.url) : undefined
    this.#steps = body(this.#imports, defaultExport, meta, load, define)
    this.#firstStep = this.#steps.next()
  }

  override bind (isEvaluatedLater: (module: ModuleRecord) => boolean): void {
    for (const [local, { module, name }] of this.#bindings) {
      const read = module.getterFor(this, name)
      const get = isEvaluatedLater(module) ? () => readUnder(local, read) : read
      Object.defineProperty(this.#imports, local, { get, set: refuseAssignment })
    }
    this.#bindings = NO_BINDINGS
  }

  override async becomeReady (): Promise<void> {
    await this.#firstStep
  }

  override run (): void | Promise<unknown> {
    try {
      const steps = this.#steps
      // The module runs once. Its generator holds all that the top level used.
      this.#steps = undefined
      this.#firstStep = undefined
      const step = steps?.next()
      if (step instanceof Promise) return step
    } catch (error) {
      this.noteError(error)
      throw error
    }
  }

  override noteError (error: unknown): void {
    this.#host.noteError(error, this.file)
  }

  override exportedNames (exportStarSet = new Set<ModuleRecord>()): Set<string> {
    if (exportStarSet.has(this)) return new Set()
    exportStarSet.add(this)
    const { localExports, indirectExports, starExports } = this.compiled
    const names = new Set([...localExports.keys(), ...indirectExports.keys()])
    for (const request of starExports) {
      for (const name of this.#get(request).exportedNames(exportStarSet)) {
        if (name !== 'default') names.add(name)
      }
    }
    return names
  }

  override resolveExport (name: string, resolveSet = new Map<ModuleRecord, Set<string>>()): Resolution {
    const names = resolveSet.get(this) ?? new Set()
    // Circular re-exports resolve to no binding.
    if (names.has(name)) return undefined
    resolveSet.set(this, names.add(name))
    const { localExports, indirectExports, starExports } = this.compiled
    const local = localExports.get(name)
    if (local !== undefined) return { module: this, name: local }
    const indirect = indirectExports.get(name)
    if (indirect !== undefined) return this.#follow(indirect, resolveSet)
    if (name === 'default') return undefined
    let binding: Binding | undefined
    for (const request of starExports) {
      const resolution = this.#get(request).resolveExport(name, resolveSet)
      if (resolution === 'ambiguous') return resolution
      if (
        resolution !== undefined && binding !== undefined &&
          (binding.module !== resolution.module || binding.name !== resolution.name)
      ) {
        return 'ambiguous'
      }
      binding ??= resolution
    }
    return binding
  }

  override getterOf (name: string): Getter {
    return this.#getters.get(name) ?? (() => undefined)
  }

  #get (request: ModuleRequest): ModuleRecord {
    const module = this.#requested.get(request)
    if (module === undefined) throw new Error(`${request.specifier} is not loaded`)
    return module
  }

  #follow ({ request, name }: RequestedName, resolveSet?: Map<ModuleRecord, Set<string>>): Resolution {
    const module = this.#get(request)
    return name === ALL ? { module, name: undefined } : module.resolveExport(name, resolveSet)
  }

  #resolve (target: RequestedName): Binding {
    const resolution = this.#follow(target)
    if (typeof resolution === 'object') return resolution
    const { request, name } = target
    const [from, exportName] = [JSON.stringify(request.specifier), JSON.stringify(name)]
    const problem = resolution === 'ambiguous'
      ? `${from} has more than one export named ${exportName}, by "export *" of several modules; ` +
        'export one of them by name'
      : `${from} has no export named ${exportName} (if it is a type, say "import type")`
    throw syntaxError(problem, this.compiled.places.get(request))
  }
}

/** The value of a default export that has no local name. */
class DefaultExport {
  #value: { readonly is: unknown } | undefined

  get value (): unknown {
    return this.get()
  }

  set value (value: unknown) {
    this.#value = { is: value }
  }

  get named (): unknown {
    return this.get()
  }

  /** Set to an anonymous function, which gets the name `default`. */
  set named (value: unknown) {
    if (typeof value === 'function') nameDefault(value)
    this.value = value
  }

  readonly get = (): unknown => {
    if (this.#value === undefined) throw new ReferenceError("Cannot access 'default' before initialization")
    return this.#value.is
  }
}

function nameDefault (anonymous: object): void {
  Object.defineProperty(anonymous, 'name', { value: 'default', configurable: true })
}

/** The error for an import that has no value yet names it by its local name. */
function readUnder (local: string, read: Getter): unknown {
  try {
    return read()
  } catch {
    throw new ReferenceError(`Cannot access '${local}' before initialization`)
  }
}

function refuseAssignment (): never {
  throw new TypeError('Assignment to constant variable.')
}

/** The prototype of each module's imports: `arguments` is no variable of a module. */
const IMPORTS: object = Object.create(null, {
  arguments: { get () { throw new ReferenceError('arguments is not defined') } }
})
