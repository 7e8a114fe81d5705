// The modules of one load of a catalog. Each load makes a new graph, so that an edited file and all modules
// that import it are evaluated again. The old graph is collected after its last request has ended. Node's own
// registry would keep its modules for ever.

import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createCompiledModules, type CompiledModules } from './compiled-module.ts'
import { Loader } from './loader.ts'
import type { Attributes } from './module-facts.ts'
import { evaluateInOrder, link, postOrder } from './module-order.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { createResolver, type Resolver } from './resolver.ts'
import { findReusable, type FileModule, type ReusableModules } from './reusable-modules.ts'
import type { ModuleHost } from './source-module.ts'

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
  readonly deadlineMs?: number
  /** If the caller passes the same object to each graph, unchanged files are not compiled again. */
  readonly compiled?: CompiledModules
  /** Called with each file of the catalog that a module imports. The file may not exist. */
  readonly onImport?: (file: string) => void
}

export interface ModuleGraph {
  /**
   * Evaluates a file and all that it imports, once in this graph. Calls start in order: each file starts
   * after the file before it has ended or has reached its first await.
   */
  load (file: string): Promise<Namespace>
  /** Every file of the catalog that is evaluated. */
  loaded (): LoadedModule[]
  /** Later calls of registering functions register nothing. */
  endLoading (): void
  /**
   * The modules of another graph that this graph can take over: their texts are the same, and so are those of
   * all that they import.
   */
  findReusable (earlier: ModuleGraph): Promise<ReusableModules>
  /** Takes over these modules, with the state that they hold. Must be called before any module is loaded. */
  reuse (modules: ReusableModules): void
  /** The modules of the files that were read. */
  files (): readonly FileModule[]
  /** The file in which this error arose. It may be a file that the loaded file imports. */
  originOf (error: unknown): string | undefined
}

export interface LoadedModule {
  readonly file: string
  readonly exports: Namespace
  /** What registering functions returned to the module, in order. */
  readonly registered: readonly unknown[]
}

const DEADLINE_MS = 30_000
const NONE: ReadonlySet<string> = new Set()

export function createModuleGraph (options: ModuleGraphOptions): ModuleGraph {
  const {
    root, provided, registering = NONE, deadlineMs = DEADLINE_MS, compiled = createCompiledModules(), onImport
  } = options
  const origins = new WeakMap<object, string>()
  const resolver = createResolver(root)
  const loader = new Loader({
    resolver, provided, registering, compiled, deadlineMs, noteError, hostOf, onImport
  })
  let turn = Promise.resolve()
  let isLoading = true

  function noteError (error: unknown, file: string): void {
    if (typeof error === 'object' && error !== null && !origins.has(error)) origins.set(error, file)
  }

  function hostOf (url: string): ModuleHost {
    return {
      createMeta: () => createMeta(url, resolver),
      load: async (specifier, options, importer) => {
        return await importFrom(importer, `${specifier}`, readAttributes(options))
      },
      noteError,
      deadlineMs,
      get isLoading () { return isLoading }
    }
  }

  async function importFrom (
    importer: ModuleRecord, specifier: string, attributes: Attributes
  ): Promise<Namespace> {
    const module = await loader.find({ specifier, attributes }, importer.url)
    await (await start(module)).ended
    return module.namespaceFor(importer)
  }

  /** `ended` is in an object, so that awaiting the start does not await the end. */
  async function start (module: ModuleRecord): Promise<{ readonly ended: Promise<void> }> {
    await loader.findRequested(module)
    link(module)
    // All are awaited together, so that concurrent starts run in the order of their calls.
    const linked = postOrder(module, ({ status }) => status === 'linked')
    await Promise.all(linked.map((one) => one.becomeReady()))
    return await evaluateInOrder(module, deadlineMs)
  }

  return {
    async load (file) {
      const started = turn.then(async () => {
        const module = await loader.open(pathToFileURL(file).href)
        return { module, ...await start(module) }
      })
      turn = started.then(() => {}, () => {})
      const { module, ended } = await started
      await ended
      return module.namespace
    },
    loaded () {
      return loader.files
        .filter(({ status, evaluation }) => status === 'evaluated' && evaluation.error === undefined)
        .map(({ file, namespace, registered }) => ({ file, exports: namespace, registered }))
    },
    endLoading () { isLoading = false },
    findReusable: async (earlier) => await findReusable(earlier.files(), compiled, resolver),
    reuse: (modules) => loader.reuse(modules),
    files: () => loader.files,
    originOf: (error) => typeof error === 'object' && error !== null ? origins.get(error) : undefined
  }
}

/** Creates the `import.meta` of a file, with the members that Node defines. */
function createMeta (url: string, resolver: Resolver): object {
  const filename = fileURLToPath(url)
  return Object.assign(Object.create(null), {
    dirname: dirname(filename),
    filename,
    ...('main' in import.meta ? { main: false } : {}),
    resolve: (specifier: unknown) => resolver.resolve(`${specifier}`, url),
    url
  })
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
