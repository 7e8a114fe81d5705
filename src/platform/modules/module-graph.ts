// The modules of one load of a catalog. Each load makes a new graph, so that an edited file and all modules
// that import it are evaluated again. The old graph is collected after its last request has ended. Node's own
// registry would keep its modules for ever.

import { dirname, extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CompiledModules } from './compiled-module.ts'
import { Loader } from './loader.ts'
import type { Attributes } from './module-facts.ts'
import { evaluateInOrder, link, postOrder } from './module-order.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { Resolver } from './resolver.ts'
import { findReusable, type FileModule, type ReusableModules } from './reusable-modules.ts'
import type { ModuleHost, SourceModule } from './source-module.ts'
import { requiredBy } from './synthetic-module.ts'

interface ModuleGraphOptions {
  /** The folder that the modules belong to. */
  readonly root: string
  /** Modules of the service, by specifier. Files in every folder can import them. */
  readonly provided: { readonly [specifier: string]: Namespace }
  /**
   * The names of functions of these modules whose results count as registered by the module that calls them.
   * None by default.
   */
  readonly registering?: ReadonlySet<string>
  /** How long one module may take to evaluate, in milliseconds. 30,000 by default. */
  readonly deadlineMs?: number | undefined
  /** If the caller passes the same object to each graph, unchanged files are not compiled again. */
  readonly compiled?: CompiledModules
  /** Called with each file of the catalog that a module imports. The file may not exist. */
  readonly onImport?: (file: string) => void
  /** Called with what a package exports that a module imports. */
  readonly onPackage?: (namespace: Namespace) => void
}

interface FileImports {
  /** The hash of the text. `undefined` for a file that is no ES module. */
  readonly digest: string | undefined
  /** URLs. */
  readonly imports: readonly string[]
}

const DEADLINE_MS = 30_000
const SOURCE = /^\.(?:m?js|[cm]?ts|[jt]sx)$/

export class ModuleGraph implements ModuleHost {
  readonly deadlineMs: number
  readonly #compiled: CompiledModules
  readonly #resolver: Resolver
  readonly #loader: Loader
  readonly #origins = new WeakMap<object, string>()
  readonly #provided: ReadonlySet<string>
  /** The URLs that `import()` was called with while the graph was loading, by importer. */
  readonly #imported = new Map<ModuleRecord, Set<string>>()
  #turn = Promise.resolve()
  #isLoading = true

  constructor ({
    root, provided, registering = new Set(), deadlineMs = DEADLINE_MS, compiled = new CompiledModules(),
    onImport, onPackage
  }: ModuleGraphOptions) {
    this.deadlineMs = deadlineMs
    this.#compiled = compiled
    this.#resolver = new Resolver(root)
    this.#provided = new Set(Object.keys(provided))
    this.#loader = new Loader({
      resolver: this.#resolver, provided, registering, compiled, host: this, onImport, onPackage
    })
  }

  /**
   * Evaluates a file and all that it imports, once in this graph. Calls start in order: each file starts
   * after the file before it has ended or has reached its first await.
   */
  async load (file: string): Promise<Namespace> {
    const start = this.#turn.then(async () => {
      const module = await this.#loader.open(pathToFileURL(file).href)
      return { module, ...await this.#start(module) }
    })
    this.#turn = start.then(() => {}, () => {})
    const { module, ended } = await start
    await ended
    return module.namespace
  }

  /** The modules of the files that were read. */
  get files (): readonly FileModule[] {
    return this.#loader.files
  }

  /** Returns every file of the catalog that is evaluated. */
  loaded (): FileModule[] {
    return this.files.filter(
      ({ status, evaluation }) => status === 'evaluated' && evaluation.error === undefined
    )
  }

  get isLoading (): boolean {
    return this.#isLoading
  }

  /** Ends the registration: later calls of registering functions register nothing. */
  endLoading (): void {
    this.#isLoading = false
  }

  /**
   * Finds the modules of another graph that this graph can take over: their texts are the same, and so are
   * those of all that they import.
   */
  async findReusable (earlier: ModuleGraph): Promise<ReusableModules> {
    return await findReusable(earlier.files, this.#compiled, this.#resolver)
  }

  /** Whether the URL is of a file of the catalog, not of a package. */
  isOwn (url: string): boolean { return this.#resolver.isOwn(url) }

  /** Finds what a module imports by `import()`: of a text, or while the graph was loading. Returns URLs. */
  lateImportsOf (module: SourceModule): string[] {
    return [
      ...this.#resolveAll(module.compiled.dynamicSpecifiers, module.url), ...this.#imported.get(module) ?? []
    ]
  }

  /** Finds what a file of the catalog imports that is no module of the graph. */
  async importsOf (url: string): Promise<FileImports> {
    const file = fileURLToPath(url)
    const required = requiredBy(file)
    if (required !== undefined) {
      return { digest: undefined, imports: required.map((path) => pathToFileURL(path).href) }
    }
    // An `import()` may load it later.
    const compiled = SOURCE.test(extname(file))
      ? await this.#compiled.read(file).catch(() => undefined)
      : undefined
    const { requests = [], dynamicSpecifiers = [], digest } = compiled ?? {}
    const specifiers = [...requests.map(({ specifier }) => specifier), ...dynamicSpecifiers]
    return { digest, imports: this.#resolveAll(specifiers, url) }
  }

  /** Takes over these modules, with the state that they hold. Must be called before any module is loaded. */
  reuse (modules: ReusableModules): void {
    this.#loader.reuse(modules)
  }

  /** Returns the file in which this error arose. It may be a file that the loaded file imports. */
  originOf (error: unknown): string | undefined {
    return isObject(error) ? this.#origins.get(error) : undefined
  }

  noteError (error: unknown, file: string): void {
    if (isObject(error) && !this.#origins.has(error)) this.#origins.set(error, file)
  }

  /** Creates the `import.meta` of a file, with the members that Node defines. */
  createMeta (url: string): object {
    const filename = fileURLToPath(url)
    return Object.assign(Object.create(null), {
      dirname: dirname(filename),
      filename,
      ...('main' in import.meta ? { main: false } : {}),
      resolve: (specifier: unknown) => this.#resolver.resolve(`${specifier}`, url),
      url
    })
  }

  async importFrom (importer: ModuleRecord, specifier: unknown, options: unknown): Promise<Namespace> {
    const request = { specifier: `${specifier}`, attributes: readAttributes(options) }
    const module = await this.#loader.find(request, importer.url)
    if (this.#isLoading) {
      this.#imported.set(importer, (this.#imported.get(importer) ?? new Set()).add(module.url))
    }
    await (await this.#start(module)).ended
    return module.namespaceFor(importer)
  }

  /** Leaves out what cannot be found: an `import()` of it fails when it is called, if ever. */
  #resolveAll (specifiers: readonly string[], importerUrl: string): string[] {
    return specifiers.flatMap((specifier) => {
      try {
        return this.#provided.has(specifier) ? [] : this.#resolver.resolve(specifier, importerUrl)
      } catch {
        return []
      }
    })
  }

  /** Starts a module. `ended` is in an object, so that awaiting the start does not await the end. */
  async #start (module: ModuleRecord): Promise<{ readonly ended: Promise<void> }> {
    await this.#loader.findRequested(module)
    link(module)
    // All are awaited together, so that concurrent starts run in the order of their calls.
    const linked = postOrder(module, ({ status }) => status === 'linked')
    await Promise.all(linked.map((member) => member.becomeReady()))
    return await evaluateInOrder(module, this.deadlineMs)
  }
}

/** Reads the attributes in the options of an `import()`. Throws a TypeError for malformed options. */
function readAttributes (options: unknown): Attributes {
  if (options === undefined) return {}
  if (!isObject(options)) throw new TypeError('The second argument to import() must be an object')
  const { with: attributes } = options
  if (attributes === undefined) return {}
  if (!isObject(attributes)) throw new TypeError("The 'with' option must be an object")
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => {
    if (typeof value !== 'string') throw new TypeError('Import attribute value must be a string')
    return [key, value]
  }))
}

function isObject (value: unknown): value is { readonly [key: string]: unknown } {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
