// Finds the module record for a request: HostLoadImportedModule and LoadRequestedModules (ECMA-262,
// 16.2.1.6.1.1).

import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CompiledModules } from './compiled-module.ts'
import type { Attributes } from './module-facts.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { openPackage, PackageModule, ProvidedModule } from './package-module.ts'
import type { Resolver } from './resolver.ts'
import type { FileModule, ReusableModules } from './reusable-modules.ts'
import { SourceModule, type ModuleHost } from './source-module.ts'
import { loadError, withPlace, type SourcePlace } from './syntax.ts'
import {
  commonJsNames, evaluateCommonJs, forgetCommonJs, isCommonJs, loadedCommonJs, SyntheticModule
} from './synthetic-module.ts'
import { yieldToRequests } from '../../base/turns.ts'

interface ImportRequest {
  readonly specifier: string
  readonly attributes: Attributes
  /** The place of the import or export statement. */
  readonly place?: SourcePlace | undefined
}

interface LoaderDependencies {
  readonly resolver: Resolver
  readonly provided: { readonly [specifier: string]: Namespace }
  readonly registering: ReadonlySet<string>
  readonly compiled: CompiledModules
  readonly host: ModuleHost
  readonly onImport: ((file: string) => void) | undefined
  readonly onPackage: ((namespace: Namespace) => void) | undefined
}

/** Node loads all other files, such as add-ons and WebAssembly. */
const MODULE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

export class Loader {
  readonly #dependencies: LoaderDependencies
  readonly #modules = new Map<string, Promise<ModuleRecord>>()
  /** The modules by the folder of the importer and the specifier. */
  readonly #bySpecifier = new Map<string, ModuleRecord>()
  readonly #files: FileModule[] = []
  #reusable: ReusableModules = new Set()
  /** The modules whose requests are loaded, directly and indirectly. */
  readonly #complete = new Set<ModuleRecord>()
  #hasCommonJs = false

  constructor (dependencies: LoaderDependencies) {
    this.#dependencies = dependencies
  }

  /** The modules of the files that were read. */
  get files (): readonly FileModule[] {
    return this.#files
  }

  /** Uses these modules instead of evaluating their files. Must be called before any other function. */
  reuse (modules: ReusableModules): void {
    this.#reusable = modules
    for (const module of modules) this.#modules.set(module.url, Promise.resolve(module))
  }

  /** Finds the module of a file of the catalog. */
  async open (url: string): Promise<ModuleRecord> {
    await yieldToRequests()
    return await this.#findFile(url)
  }

  /** Finds the module that a request resolves to. */
  async find (request: ImportRequest, importerUrl: string): Promise<ModuleRecord> {
    // Two files of a folder mean the same by a specifier. Attributes must be checked each time.
    const isPlain = Object.keys(request.attributes).length === 0
    const key = `${importerUrl.slice(0, importerUrl.lastIndexOf('/'))} ${request.specifier}`
    const module = (isPlain ? this.#bySpecifier.get(key) : undefined) ??
      await this.#findNew(request, importerUrl)
    if (isPlain) this.#bySpecifier.set(key, module)
    return module
  }

  /** Finds all that a module requests, and what that requests. */
  async findRequested (root: ModuleRecord): Promise<void> {
    const visited = new Set<ModuleRecord>()
    const visit = async (module: ModuleRecord): Promise<void> => {
      if (!(module instanceof SourceModule) || this.#complete.has(module) || visited.has(module)) return
      visited.add(module)
      const { requests, starExports, places } = module.compiled
      for (const request of requests) {
        const requested = await this.#findFrom(module, { ...request, place: places.get(request) })
        module.setRequested(request, requested)
        // Its export names become export names of this module.
        if (requested instanceof PackageModule && starExports.includes(request)) {
          await requested.load(this.#dependencies.host.deadlineMs)
        }
        await visit(requested)
      }
    }
    await visit(root)
    for (const module of visited) this.#complete.add(module)
  }

  async #findFrom (module: SourceModule, request: ImportRequest): Promise<ModuleRecord> {
    try {
      return await this.find(request, module.url)
    } catch (error) {
      // Has no effect if the error arose in the requested module, which has noted it already.
      this.#dependencies.host.noteError(error, module.file)
      throw error
    }
  }

  async #findNew (
    { specifier, attributes, place }: ImportRequest, importerUrl: string
  ): Promise<ModuleRecord> {
    const { provided, registering, resolver, host: { deadlineMs }, onImport, onPackage } = this.#dependencies
    const namespace = provided[specifier]
    if (namespace !== undefined) {
      return await this.#once(specifier, async () => {
        const module = new ProvidedModule(specifier, namespace, registering)
        await module.load(deadlineMs)
        return module
      })
    }
    const url = resolveAt(place, () => resolver.resolve(specifier, importerUrl))
    if (resolver.isOwn(url)) {
      const file = fileURLToPath(url)
      onImport?.(file)
      checkFile(file, specifier, place)
      if (MODULE.test(file)) {
        checkAttributes(attributes, url, extname(file) === '.json')
        return await this.#findFile(url)
      }
    }
    return await this.#once(url, async () => await openPackage(url, attributes, deadlineMs, onPackage))
  }

  async #findFile (url: string): Promise<ModuleRecord> {
    const module = await this.#once(url, async () => await this.#readFile(url))
    this.#enter(module)
    return module
  }

  #once (url: string, create: () => Promise<ModuleRecord>): Promise<ModuleRecord> {
    const module = this.#modules.get(url) ?? create()
    this.#modules.set(url, module)
    return module
  }

  /** Counts a module of an earlier graph, and all that it requests, to this one. */
  #enter (module: ModuleRecord): void {
    if (this.#complete.has(module) || !this.#reusable.has(module)) return
    this.#complete.add(module)
    if (module instanceof SourceModule) {
      module.adopt(this.#dependencies.host)
      this.#files.push(module)
    }
    for (const requested of module.requested) this.#enter(requested)
  }

  async #readFile (url: string): Promise<ModuleRecord> {
    const file = fileURLToPath(url)
    // Within `once`: two imports that are waiting for one file go on in their order.
    await yieldToRequests()
    try {
      const module = await this.#readModule(url, file)
      this.#files.push(module)
      return module
    } catch (error) {
      this.#dependencies.host.noteError(error, file)
      throw error
    }
  }

  async #readModule (url: string, file: string): Promise<FileModule> {
    const { compiled, host } = this.#dependencies
    switch (extname(file)) {
      case '.json': return new SyntheticModule(url, file, ['default'], readJson(file), host)
      case '.cjs': return await this.#readCommonJs(url, file)
      default: {
        const module = await compiled.read(file)
        return isCommonJs(file, module)
          ? await this.#readCommonJs(url, file)
          : new SourceModule(url, file, module, host)
      }
    }
  }

  async #readCommonJs (url: string, file: string): Promise<SyntheticModule> {
    const { resolver, host, onImport, provided } = this.#dependencies
    const isOwn = (path: string) => resolver.isOwn(pathToFileURL(path).href)
    const names = await commonJsNames(file)
    const services = new Map(await Promise.all(Object.keys(provided).map(
      async (specifier) => [specifier, await this.find({ specifier, attributes: {} }, url)] as const
    )))
    const evaluate = () => {
      if (!this.#hasCommonJs) forgetCommonJs(isOwn)
      this.#hasCommonJs = true
      const values = evaluateCommonJs(file, names, (path, specifier, isEvaluating) => {
        const service = isOwn(path) ? services.get(specifier) : undefined
        return isEvaluating ? service?.namespaceFor(module) : service?.namespace
      })
      for (const path of loadedCommonJs(isOwn)) onImport?.(path)
      return values
    }
    const module: SyntheticModule = new SyntheticModule(url, file, names, evaluate, host)
    return module
  }
}

function readJson (file: string): () => Map<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  return () => new Map([['default', value]])
}

/** Throws the errors of Node for a file that does not exist, and for a folder. */
function checkFile (file: string, specifier: string, place: SourcePlace | undefined): void {
  const facts = statSync(file, { throwIfNoEntry: false })
  const fail = (code: string, problem: string) => {
    throw loadError(Error, code, `imports ${JSON.stringify(specifier)}, which ${problem}`, place)
  }
  if (facts === undefined) fail('ERR_MODULE_NOT_FOUND', `does not exist${adviceFor(file, specifier)}`)
  else if (facts.isDirectory()) fail('ERR_UNSUPPORTED_DIR_IMPORT', 'is a folder; name a file in it')
}

/** Node and TypeScript want the ending of a file in an import, which bundlers do without. */
function adviceFor (file: string, specifier: string): string {
  const ending = ['.ts', '.js', '.mts', '.mjs', '.tsx'].find((suffix) => existsSync(file + suffix))
  return ending === undefined ? '' : `; did you mean ${JSON.stringify(specifier + ending)}?`
}

/** Throws the errors of Node. Unlike in Node, JSON may be imported without the attribute. */
function checkAttributes (attributes: Attributes, url: string, isJson: boolean): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (key !== 'type' || value !== 'json') {
      throw loadError(
        TypeError, 'ERR_IMPORT_ATTRIBUTE_UNSUPPORTED',
        `Import attribute "${key}" with value "${value}" is not supported`
      )
    }
    if (!isJson) {
      throw loadError(
        TypeError, 'ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE', `Module "${url}" is not of type "json"`
      )
    }
  }
}

/** Adds the place of the statement to an error of the resolver. */
function resolveAt (place: SourcePlace | undefined, resolve: () => string): string {
  try {
    return resolve()
  } catch (error) {
    throw error instanceof Error ? withPlace(error, place) : error
  }
}
