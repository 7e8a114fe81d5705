// Modules whose export names are known before they run: JSON, and the catalog's own CommonJS files. Node runs
// CommonJS. Each graph first removes these files from Node's registry, so that edited files run again.

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import Module, { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { initSync, parse } from 'cjs-module-lexer'
import type { CompiledModule, Getter } from './compiled-module.ts'
import { ModuleRecord, type Resolution } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import type { ModuleHost } from './source-module.ts'

export class SyntheticModule extends ModuleRecord {
  readonly url: string
  readonly file: string
  readonly #values: Map<string, unknown>
  readonly #evaluate: () => ReadonlyMap<string, unknown>
  readonly #host: Pick<ModuleHost, 'noteError' | 'isLoading'>
  override readonly registered: unknown[] = []

  constructor (
    url: string, file: string, names: Iterable<string>, evaluate: () => ReadonlyMap<string, unknown>,
    host: Pick<ModuleHost, 'noteError' | 'isLoading'>
  ) {
    super()
    this.url = url
    this.file = file
    this.#values = new Map([...names].map((name) => [name, undefined]))
    this.#evaluate = evaluate
    this.#host = host
  }

  override run (): void {
    try {
      for (const [name, value] of this.#evaluate()) this.#values.set(name, value)
    } catch (error) {
      this.#host.noteError(error, this.file)
      throw error
    }
  }

  override register (value: unknown): void {
    if (this.#host.isLoading) this.registered.push(value)
  }

  override exportedNames (): Set<string> {
    return new Set(this.#values.keys())
  }

  override resolveExport (name: string): Resolution {
    return this.#values.has(name) ? { module: this, name } : undefined
  }

  override getterOf (name: string): Getter {
    return () => this.#values.get(name)
  }
}

/** Whether a file is CommonJS to Node: a .js file without the syntax of modules, in a package of no type. */
export function isCommonJs (file: string, compiled: CompiledModule): boolean {
  const { requests, localExports, indirectExports, isAsync, usesMeta } = compiled
  return extname(file) === '.js' && requests.length + localExports.size + indirectExports.size === 0 &&
    !isAsync && !usesMeta && packageTypeOf(dirname(file)) !== 'module'
}

/** The `type` in the nearest package.json. */
function packageTypeOf (folder: string): unknown {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return folder === dirname(folder) ? undefined : packageTypeOf(dirname(folder))
  const { type }: { readonly type?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
  return type
}

/** Later versions of Node add an export of this name to the namespace of a CommonJS module. */
const WHOLE = 'module.exports'

/** The names that Node finds in a CommonJS text without running it. */
export async function commonJsNames (file: string): Promise<Set<string>> {
  // The namespace of any CommonJS package shows whether this version of Node adds the name.
  const anyPackage = await import('esbuild')
  initSync()
  return new Set([...writtenNames(file, new Set()), 'default', ...(WHOLE in anyPackage ? [WHOLE] : [])])
}

/** @param visited the files whose names are in the list already. */
function writtenNames (file: string, visited: Set<string>): string[] {
  if (visited.has(file)) return []
  visited.add(file)
  const { exports, reexports } = parse(readFileSync(file, 'utf8'), file)
  const require = createRequire(file)
  return [...exports, ...reexports.flatMap((specifier) => writtenNames(require.resolve(specifier), visited))]
}

/**
 * Finds the module of the service that a file requires. `undefined`: Node finds it.
 * @param isEvaluating whether the file is being evaluated, or has been.
 */
type Provide = (file: string, specifier: string, isEvaluating: boolean) => Namespace | undefined

let provide: Provide | undefined
let isEvaluating = false

/** Node 20 has no hook for `require`. All files but those of a catalog get what Node finds. */
function extendRequire (): void {
  const requireOfNode: (this: NodeJS.Module, specifier: string) => unknown = Module.prototype.require
  Module.prototype.require = function (this: NodeJS.Module, specifier: string): unknown {
    return provide?.(this.filename, specifier, isEvaluating) ?? requireOfNode.call(this, specifier)
  }
}

/** @param provideTo what the file requires, until another one is evaluated. */
export function evaluateCommonJs (
  file: string, names: Iterable<string>, provideTo: Provide
): Map<string, unknown> {
  if (provide === undefined) extendRequire()
  provide = provideTo
  isEvaluating = true
  try {
    const exported: unknown = createRequire(file)(file)
    const hasMembers = (typeof exported === 'object' && exported !== null) || typeof exported === 'function'
    return new Map([...names].map((name) => {
      if (name === 'default' || name === WHOLE) return [name, exported]
      return [name, hasMembers && Object.hasOwn(exported, name) ? Reflect.get(exported, name) : undefined]
    }))
  } finally {
    isEvaluating = false
  }
}

/** The files in Node's registry. */
export function loadedCommonJs (isOwn: (file: string) => boolean): string[] {
  return Object.keys(createRequire(import.meta.url).cache).filter(isOwn)
}

/** Returns the files that a CommonJS file has required. `undefined` if Node has not loaded it. */
export function requiredBy (file: string): string[] | undefined {
  // The registry has the targets of links.
  const path = existsSync(file) ? realpathSync(file) : file
  return createRequire(import.meta.url).cache[path]?.children.map(({ filename }) => filename)
}

/** Removes the files from Node's registry: they may have been edited since an earlier graph loaded them. */
export function forgetCommonJs (isOwn: (file: string) => boolean): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of loadedCommonJs(isOwn)) Reflect.deleteProperty(cache, file)
}
