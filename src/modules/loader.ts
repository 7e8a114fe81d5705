// From a request to a module record: HostLoadImportedModule and LoadRequestedModules (ECMA-262,
// 16.2.1.6.1.1).

import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { checkAttributes, type Attributes } from './attributes.ts'
import { breathe } from './breath.ts'
import { commonJsNames, evaluateCommonJs, forgetCommonJs } from './common-js.ts'
import type { CompiledModules } from './compiled-module.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { PackageModule } from './package-module.ts'
import type { Resolver } from './resolver.ts'
import { SourceModule, type ModuleHost } from './source-module.ts'
import { loadError, placed, type Place } from './syntax-error.ts'
import { SyntheticModule } from './synthetic-module.ts'

export interface Request {
  readonly specifier: string
  readonly attributes: Attributes
  /** Of the statement that requests. */
  readonly place?: Place | undefined
}

export interface LoaderDependencies {
  readonly resolver: Resolver
  readonly provided: { readonly [specifier: string]: Namespace }
  readonly compiled: CompiledModules
  readonly deadlineMs: number
  noteError (error: unknown, file: string): void
  hostOf (url: string): ModuleHost
}

export interface Loader {
  /** The module of a file of the catalog. */
  open (url: string): Promise<ModuleRecord>
  /** The module that a request leads to from an importer. */
  find (request: Request, importerUrl: string): Promise<ModuleRecord>
  /** Finds all that a module requests, and what that requests. */
  findRequested (module: ModuleRecord): Promise<void>
  /** The files that were read so far. */
  files (): ReadonlyArray<SourceModule | SyntheticModule>
}

/** Other files are Node's affair: add-ons, WebAssembly. */
const MODULE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

export function createLoader (dependencies: LoaderDependencies): Loader {
  const { resolver, provided, compiled, deadlineMs, noteError, hostOf } = dependencies
  const modules = new Map<string, Promise<ModuleRecord>>()
  const files: Array<SourceModule | SyntheticModule> = []
  /** Those whose requests are found, and the requests of what they request. */
  const complete = new Set<ModuleRecord>()
  let hasCommonJs = false

  function once (url: string, create: () => Promise<ModuleRecord>): Promise<ModuleRecord> {
    const module = modules.get(url) ?? create()
    modules.set(url, module)
    return module
  }

  async function readFile (url: string): Promise<ModuleRecord> {
    const file = fileURLToPath(url)
    await breathe()
    try {
      const module =
        extname(file) === '.json' ? readJson(url, file) : extname(file) === '.cjs' ? await readCommonJs(url, file) : await readSource(url, file)
      files.push(module)
      return module
    } catch (error) {
      noteError(error, file)
      throw error
    }
  }

  async function readSource (url: string, file: string): Promise<SourceModule> {
    return new SourceModule(url, file, await compiled.compile(readFileSync(file, 'utf8'), file), hostOf(url))
  }

  function readJson (url: string, file: string): SyntheticModule {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
    return new SyntheticModule(url, file, ['default'], () => new Map([['default', value]]), noteError)
  }

  async function readCommonJs (url: string, file: string): Promise<SyntheticModule> {
    if (!hasCommonJs) forgetCommonJs((path) => resolver.isOwn(pathToFileURL(path).href))
    hasCommonJs = true
    const names = await commonJsNames(file)
    return new SyntheticModule(url, file, names, () => evaluateCommonJs(file, names), noteError)
  }

  async function readPackage (url: string, load: () => Promise<Namespace>): Promise<PackageModule> {
    const module = new PackageModule(url, load)
    // To load a built-in runs nothing of anybody's. A package waits for its turn.
    if (url.startsWith('node:') || Object.hasOwn(provided, url) || imported.has(url)) {
      await module.load(deadlineMs)
    }
    return module
  }

  async function find (
    { specifier, attributes, place }: Request, importerUrl: string
  ): Promise<ModuleRecord> {
    const given = provided[specifier]
    if (given !== undefined) {
      return await once(specifier, async () => await readPackage(specifier, async () => given))
    }
    const url = resolveAt(place, () => resolver.resolve(specifier, importerUrl))
    const findPackage = async () => await once(
      url, async () => await readPackage(url, async () => await importNatively(url, attributes))
    )
    if (!resolver.isOwn(url)) return await findPackage()
    const file = fileURLToPath(url)
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
    return await once(url, async () => await readFile(url))
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
        // Its names become the names of this module.
        if (requested instanceof PackageModule && starExports.includes(request)) {
          await requested.load(deadlineMs)
        }
        await visit(requested)
      }
    }
  }

  async function findFrom (module: SourceModule, request: Request): Promise<ModuleRecord> {
    try {
      return await find(request, module.url)
    } catch (error) {
      // Whoever fails further down has noted it already.
      noteError(error, module.file)
      throw error
    }
  }

  return {
    open: async (url) => await once(url, async () => await readFile(url)),
    find,
    findRequested,
    files: () => files
  }
}

/** Gives an error of the resolver the place of the statement. */
function resolveAt (place: Place | undefined, resolve: () => string): string {
  try {
    return resolve()
  } catch (error) {
    throw error instanceof Error ? placed(error, place) : error
  }
}

/** The packages that Node has evaluated for any graph. */
const imported = new Set<string>()

async function importNatively (url: string, attributes: Attributes): Promise<Namespace> {
  const namespace: Namespace = await import(url, { with: attributes })
  imported.add(url)
  return namespace
}
