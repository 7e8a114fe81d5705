// One evaluation of a catalog's modules. Each load makes a new graph, so that an edited file and everything that
// imports it is fresh; the old graph is garbage once its last request has ended. (Node's own registry never forgets.)
// Packages are imported natively: they are shared with the service and with every other graph.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
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
}

interface LoadedModule { readonly exports: Namespace, readonly done: Promise<void> }

type Importer = (specifier: string) => Promise<unknown>
type Evaluate = (exports: object, require: (specifier: string) => unknown, load: Importer, meta: object) => Promise<void>

/** @param provided modules that the service itself gives, wherever the importing file lies. */
export function createModuleGraph (provided: { readonly [specifier: string]: Namespace }): ModuleGraph {
  const modules = new Map<string, LoadedModule>()

  async function load (file: string, importers: readonly string[]): Promise<Namespace> {
    let module = modules.get(file)
    // An import cycle: it gets what there is so far, as in Node.
    if (module !== undefined && importers.includes(file)) return module.exports
    if (module === undefined) {
      const exports = {}
      module = { exports, done: evaluate(file, exports, importers) }
      modules.set(file, module)
    }
    await module.done
    return module.exports
  }

  async function evaluate (file: string, exports: object, importers: readonly string[]): Promise<void> {
    const source = await readFile(file, 'utf8')
    if (extname(file) === '.json') {
      Object.assign(exports, { __esModule: true, default: JSON.parse(source) })
      return
    }
    const { code, imports } = await transpile(source, file)
    const imported = new Map<string, unknown>()
    for (const specifier of imports) imported.set(specifier, await importFrom(specifier, file, [...importers, file]))
    const meta = { url: pathToFileURL(file).href, filename: file, dirname: dirname(file) }
    await compile(code, file)(exports, (specifier) => imported.get(specifier), (specifier) => importFrom(specifier, file, []), meta)
  }

  async function importFrom (specifier: string, importer: string, importers: readonly string[]): Promise<unknown> {
    const given = provided[specifier]
    if (given !== undefined) return asTranspiled(given)
    const url = resolve(specifier, importer)
    if (url.startsWith('file:') && !url.includes('/node_modules/')) return await load(fileURLToPath(url), importers)
    const namespace: Namespace = await import(url)
    return asTranspiled(namespace)
  }

  return { load: (file) => load(file, []) }
}

function resolve (specifier: string, importer: string): string {
  if (isBuiltin(specifier)) return specifier
  if (!/^(?:\.\.?)?\//.test(specifier)) return resolvePackage(specifier, pathToFileURL(importer).href)
  const path = resolvePath(dirname(importer), specifier)
  // TypeScript lets a source file be imported by the name of what it compiles to.
  const written = path.replace(/\.([cm]?)js$/, '.$1ts')
  return pathToFileURL(!existsSync(path) && existsSync(written) ? written : path).href
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
