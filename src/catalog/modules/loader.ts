// Finds the module record for a request: HostLoadImportedModule and LoadRequestedModules (ECMA-262,
// 16.2.1.6.1.1).

import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { checkAttributes, type Attributes } from './attributes.ts'
import { commonJsNames, evaluateCommonJs, forgetCommonJs, loadedCommonJs } from './common-js.ts'
import type { CompiledModules } from './compiled-module.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { PackageModule } from './package-module.ts'
import { ProvidedModule } from './provided-module.ts'
import type { Resolver } from './resolver.ts'
import type { FileModule, ReusableModules } from './reusable-modules.ts'
import { SourceModule, type ModuleHost } from './source-module.ts'
import { loadError, withPlace, type Place } from './syntax-error.ts'
import { SyntheticModule } from './synthetic-module.ts'
import { yieldToRequests } from './yield-to-requests.ts'

interface ImportRequest {
  readonly specifier: string
  readonly attributes: Attributes
  /** The place of the import or export statement. */
  readonly place?: Place | undefined
}

interface LoaderDependencies {
  readonly resolver: Resolver
  readonly provided: { readonly [specifier: string]: Namespace }
  readonly registering: ReadonlySet<string>
  readonly compiled: CompiledModules
  readonly deadlineMs: number
  noteError (error: unknown, file: string): void
  hostOf (url: string): ModuleHost
  readonly onImport: ((file: string) => void) | undefined
}

interface Loader {
  /** The module of a file of the catalog. */
  open (url: string): Promise<ModuleRecord>
  /** The module that a request resolves to. */
  find (request: ImportRequest, importerUrl: string): Promise<ModuleRecord>
  /** Finds all that a module requests, and what that requests. */
  findRequested (module: ModuleRecord): Promise<void>
  /** The modules of the files that were read. */
  files (): readonly FileModule[]
  /** Uses these modules instead of evaluating their files. Must be called before any other function. */
  reuse (modules: ReusableModules): void
}

/** Node loads all other files, such as add-ons and WebAssembly. */
const MODULE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

export function createLoader (dependencies: LoaderDependencies): Loader {
  const { resolver, provided, registering, compiled, deadlineMs, noteError, hostOf, onImport } = dependencies
  const modules = new Map<string, Promise<ModuleRecord>>()
  /** By the folder of the importer and the specifier. */
  const found = new Map<string, ModuleRecord>()
  const files: FileModule[] = []
  let reusable: ReusableModules = new Set()
  /** The modules whose requests are found, directly and indirectly. */
  const complete = new Set<ModuleRecord>()
  let hasCommonJs = false
  const isOwnFile = (file: string) => resolver.isOwn(pathToFileURL(file).href)

  function once (url: string, create: () => Promise<ModuleRecord>): Promise<ModuleRecord> {
    const module = modules.get(url) ?? create()
    modules.set(url, module)
    return module
  }

  /** Counts a module of an earlier graph, and all that it requests, to this one. */
  function enter (module: ModuleRecord): void {
    if (complete.has(module) || !reusable.has(module)) return
    complete.add(module)
    if (module instanceof SourceModule) {
      module.adopt(hostOf(module.url))
      files.push(module)
    }
    for (const requested of module.requested) enter(requested)
  }

  async function findFile (url: string): Promise<ModuleRecord> {
    const module = await once(url, async () => await readFile(url))
    enter(module)
    return module
  }

  async function readFile (url: string): Promise<ModuleRecord> {
    const file = fileURLToPath(url)
    // Within `once`: two imports that are waiting for one file go on in their order.
    await yieldToRequests()
    try {
      const module = await readModule(url, file)
      files.push(module)
      return module
    } catch (error) {
      noteError(error, file)
      throw error
    }
  }

  async function readModule (url: string, file: string): Promise<SourceModule | SyntheticModule> {
    switch (extname(file)) {
      case '.json': return readJson(url, file)
      case '.cjs': return await readCommonJs(url, file)
      default: return await readSource(url, file)
    }
  }

  async function readSource (url: string, file: string): Promise<SourceModule> {
    return new SourceModule(url, file, await compiled.read(file), hostOf(url))
  }

  function readJson (url: string, file: string): SyntheticModule {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
    return new SyntheticModule(url, file, ['default'], () => new Map([['default', value]]), noteError)
  }

  async function readCommonJs (url: string, file: string): Promise<SyntheticModule> {
    if (!hasCommonJs) forgetCommonJs(isOwnFile)
    hasCommonJs = true
    const names = await commonJsNames(file)
    const run = () => {
      const values = evaluateCommonJs(file, names)
      for (const path of loadedCommonJs(isOwnFile)) onImport?.(path)
      return values
    }
    return new SyntheticModule(url, file, names, run, noteError)
  }

  async function readProvided (specifier: string, namespace: Namespace): Promise<ProvidedModule> {
    const module = new ProvidedModule(specifier, namespace, registering)
    await module.load(deadlineMs)
    return module
  }

  async function readPackage (url: string, load: () => Promise<Namespace>): Promise<PackageModule> {
    const module = new PackageModule(url, load)
    // Loading these has no side effect. Any other package is loaded at its place in the order of evaluation.
    if (url.startsWith('node:') || imported.has(url)) await module.load(deadlineMs)
    return module
  }

  async function find (request: ImportRequest, importerUrl: string): Promise<ModuleRecord> {
    // Two files of a folder mean the same by a specifier. Attributes must be checked each time.
    const isPlain = Object.keys(request.attributes).length === 0
    const key = `${importerUrl.slice(0, importerUrl.lastIndexOf('/'))} ${request.specifier}`
    const known = isPlain ? found.get(key) : undefined
    if (known !== undefined) return known
    const module = await findNew(request, importerUrl)
    if (isPlain) found.set(key, module)
    return module
  }

  async function findNew (
    { specifier, attributes, place }: ImportRequest, importerUrl: string
  ): Promise<ModuleRecord> {
    const given = provided[specifier]
    if (given !== undefined) return await once(specifier, async () => await readProvided(specifier, given))
    const url = resolveAt(place, () => resolver.resolve(specifier, importerUrl))
    const findPackage = async () => await once(
      url, async () => await readPackage(url, async () => await importNatively(url, attributes))
    )
    if (!resolver.isOwn(url)) return await findPackage()
    const file = fileURLToPath(url)
    onImport?.(file)
    const facts = statSync(file, { throwIfNoEntry: false })
    if (facts === undefined) {
      throw loadError(
        Error, 'ERR_MODULE_NOT_FOUND', `imports ${JSON.stringify(specifier)}, which does not exist`, place
      )
    }
    if (facts.isDirectory()) {
      throw loadError(
        Error, 'ERR_UNSUPPORTED_DIR_IMPORT',
        `imports ${JSON.stringify(specifier)}, which is a folder; name a file in it`, place
      )
    }
    if (!MODULE.test(file)) return await findPackage()
    checkAttributes(attributes, url, extname(file) === '.json')
    return await findFile(url)
  }

  async function findRequested (root: ModuleRecord): Promise<void> {
    const seen = new Set<ModuleRecord>()
    await visit(root)
    for (const module of seen) complete.add(module)

    async function visit (module: ModuleRecord): Promise<void> {
      if (!(module instanceof SourceModule) || complete.has(module) || seen.has(module)) return
      seen.add(module)
      const { requests, starExports, places } = module.compiled
      for (const request of requests) {
        const requested = await findFrom(module, { ...request, place: places.get(request) })
        module.setRequested(request, requested)
        // Its export names become export names of this module.
        if (requested instanceof PackageModule && starExports.includes(request)) {
          await requested.load(deadlineMs)
        }
        await visit(requested)
      }
    }
  }

  async function findFrom (module: SourceModule, request: ImportRequest): Promise<ModuleRecord> {
    try {
      return await find(request, module.url)
    } catch (error) {
      // Has no effect if the error arose in the requested module, which has noted it already.
      noteError(error, module.file)
      throw error
    }
  }

  return {
    async open (url) {
      await yieldToRequests()
      return await findFile(url)
    },
    find,
    findRequested,
    files: () => files,
    reuse (given) {
      reusable = given
      for (const module of given) modules.set(module.url, Promise.resolve(module))
    }
  }
}

/** Adds the place of the statement to an error of the resolver. */
function resolveAt (place: Place | undefined, resolve: () => string): string {
  try {
    return resolve()
  } catch (error) {
    throw error instanceof Error ? withPlace(error, place) : error
  }
}

/** The URLs that Node has evaluated for any graph. */
const imported = new Set<string>()

async function importNatively (url: string, attributes: Attributes): Promise<Namespace> {
  const namespace: Namespace = await import(url, { with: attributes })
  imported.add(url)
  return namespace
}
