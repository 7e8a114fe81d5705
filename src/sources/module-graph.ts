// One evaluation of a catalog's modules. Each load makes a new graph, so that an edited file and everything that
// imports it is fresh; the old graph is garbage once its last request has ended. (Node's own registry never forgets.)
// Packages are imported natively: they are shared with the service and with every other graph.

import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, resolve as resolvePath } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'
import { resolve as resolvePackage } from 'import-meta-resolve'
import { PARAMETERS, transpile } from './transpile.ts'

export type Namespace = { readonly [name: string]: unknown }

export interface ModuleGraph {
  /** Evaluates a file and all that it imports, once in this graph. Load one file after the other. */
  load (file: string): Promise<Namespace>
  /** Every file of the catalog that was evaluated so far, with what it exports. */
  loaded (): Array<{ readonly file: string, readonly exports: Namespace }>
  /** The file whose evaluation ended in this error, which may be another than the one that was to be loaded. */
  originOf (error: unknown): string | undefined
}

interface LoadedModule { readonly exports: Namespace, readonly done: Promise<void> }

type Importer = (specifier: string) => Promise<unknown>
type Evaluate = (exports: object, staticImport: (index: number) => unknown, load: Importer, meta: object) => Promise<void>

/** @param provided modules that the service itself gives, wherever the importing file lies. */
export function createModuleGraph (provided: { readonly [specifier: string]: Namespace }): ModuleGraph {
  const modules = new Map<string, LoadedModule>()
  /** The file whose end each file that is being evaluated waits for. */
  const waitsFor = new Map<string, string>()
  const origins = new WeakMap<object, string>()

  /** @param importer the file that waits for this one with a static import. */
  async function load (file: string, importer?: string): Promise<Namespace> {
    let module = modules.get(file)
    if (module === undefined) {
      const exports = {}
      module = { exports, done: evaluate(file, exports).catch((error: unknown) => { throw noted(error, file) }) }
      modules.set(file, module)
    }
    if (importer === undefined) {
      await module.done
      return module.exports
    }
    // An import cycle: whoever closes it gets what there is so far, as in Node.
    if (isWaitingFor(file, importer)) return module.exports
    waitsFor.set(importer, file)
    await module.done.finally(() => waitsFor.delete(importer))
    return module.exports
  }

  function isWaitingFor (file: string, awaited: string): boolean {
    for (let at: string | undefined = file; at !== undefined; at = waitsFor.get(at)) if (at === awaited) return true
    return false
  }

  function noted (error: unknown, file: string): unknown {
    if (typeof error === 'object' && error !== null && !origins.has(error)) origins.set(error, file)
    return error
  }

  async function evaluate (file: string, exports: object): Promise<void> {
    await breathe()
    const source = readFileSync(file, 'utf8')
    if (extname(file) === '.json') {
      Object.assign(exports, { __esModule: true, default: JSON.parse(source) })
      return
    }
    const { code, imports } = await transpile(source, file)
    const run = compile(code, file)
    const imported: unknown[] = []
    for (const { specifier, names } of imports) {
      const namespace = await importFrom(specifier, file, file)
      imported.push(namespace)
      const missing = names.find((name) => !(name in namespace))
      if (missing !== undefined && !isPartial(namespace)) throw new SyntaxError(`${JSON.stringify(specifier)} has no export named ${JSON.stringify(missing)} (if it is a type, say "import type")`)
    }
    const meta = { url: pathToFileURL(file).href, filename: file, dirname: dirname(file) }
    await run(exports, (index) => imported[index], (specifier) => importFrom(specifier, file), meta)
  }

  /** Whether it belongs to a file that is still being evaluated. */
  function isPartial (namespace: Namespace): boolean {
    return [...waitsFor.keys()].some((file) => modules.get(file)?.exports === namespace)
  }

  async function importFrom (specifier: string, file: string, importer?: string): Promise<Namespace> {
    const given = provided[specifier]
    if (given !== undefined) return asTranspiled(given)
    const url = resolve(specifier, file)
    if (isCatalogFile(url)) return await load(fileURLToPath(url), importer)
    const namespace: Namespace = await import(url)
    return asTranspiled(namespace)
  }

  return {
    load: async (file) => await load(file),
    loaded: () => [...modules].map(([file, { exports }]) => ({ file, exports })),
    originOf: (error) => typeof error === 'object' && error !== null ? origins.get(error) : undefined
  }
}

/** How long requests wait for a load at most before some are served in between, in milliseconds. */
const BREATH_MS = 10
let lastBreath = 0

/** Small files are read fastest one after the other, without a turn of the event loop for each. */
async function breathe (): Promise<void> {
  if (performance.now() - lastBreath < BREATH_MS) return
  await new Promise(setImmediate)
  lastBreath = performance.now()
}

/** Packages are not the catalog's own, and CommonJS is Node's affair. */
function isCatalogFile (url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/') && !url.endsWith('.cjs')
}

function resolve (specifier: string, importer: string): string {
  if (isBuiltin(specifier)) return specifier
  if (!/^(?:\.\.?)?\//.test(specifier)) return resolvePackage(specifier, pathToFileURL(importer).href)
  const path = resolvePath(dirname(importer), specifier)
  if (existsSync(path)) return pathToFileURL(path).href
  // TypeScript lets a source file be imported by the name of what it compiles to.
  const written = path.replace(/\.([cm]?)js$/, '.$1ts')
  if (!existsSync(written)) throw new Error(`imports ${JSON.stringify(specifier)}, which does not exist`)
  return pathToFileURL(written).href
}

function compile (code: string, file: string): Evaluate {
  const head = `(async (${PARAMETERS.join(', ')}) => {`
  return new Script(`${head}${code}\n})`, { filename: file, columnOffset: -head.length }).runInThisContext()
}

const transpiledViews = new WeakMap<Namespace, Namespace>()

/** A native namespace in the form that transpiled imports read: live, and marked as a module. */
function asTranspiled (namespace: Namespace): Namespace {
  const known = transpiledViews.get(namespace)
  if (known !== undefined) return known
  const view: Namespace = Object.create(null, { __esModule: { value: true } })
  for (const name of Object.keys(namespace)) Object.defineProperty(view, name, { enumerable: true, get: () => namespace[name] })
  transpiledViews.set(namespace, view)
  return view
}
