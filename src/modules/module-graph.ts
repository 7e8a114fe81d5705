// One evaluation of a catalog's modules. Each load of the catalog makes a new graph, so that an edited file
// and everything that imports it is fresh. The old graph is garbage once its last request has ended. (Node's
// own registry keeps modules for ever.)

import { pathToFileURL } from 'node:url'
import { readAttributes, type Attributes } from './attributes.ts'
import { createCompiledModules, type CompiledModules } from './compiled-module.ts'
import { evaluateInOrder } from './evaluate-in-order.ts'
import { createMeta } from './import-meta.ts'
import { link, postOrder } from './linking.ts'
import { createLoader } from './loader.ts'
import type { ModuleRecord } from './module-record.ts'
import type { Namespace } from './namespace.ts'
import { createResolver } from './resolver.ts'
import type { ModuleHost } from './source-module.ts'

export interface ModuleGraphOptions {
  /** The folder that the modules belong to. */
  readonly root: string
  /** Modules that the service itself gives, by specifier, wherever the importing file lies. */
  readonly provided: { readonly [specifier: string]: Namespace }
  /** How long one module may take to evaluate. */
  readonly deadlineMs?: number
  /** Kept by the caller from graph to graph: unchanged files are then not compiled again. */
  readonly compiled?: CompiledModules
}

export interface ModuleGraph {
  /**
   * Evaluates a file and all that it imports, once in this graph. Files that are asked for together start in
   * the order of the calls, each when the one before has run as far as its first wait.
   */
  load (file: string): Promise<Namespace>
  /** Every file of the catalog that was evaluated so far, with what it exports. */
  loaded (): Array<{ readonly file: string, readonly exports: Namespace }>
  /** The file in which this error arose, which may be another than the one that was to be loaded. */
  originOf (error: unknown): string | undefined
}

const DEADLINE_MS = 30_000

export function createModuleGraph (
  { root, provided, deadlineMs = DEADLINE_MS, compiled = createCompiledModules() }: ModuleGraphOptions
): ModuleGraph {
  const origins = new WeakMap<object, string>()
  const resolver = createResolver(root)
  const loader = createLoader({ resolver, provided, compiled, deadlineMs, noteError, hostOf })
  let turn = Promise.resolve()

  function noteError (error: unknown, file: string): void {
    if (typeof error === 'object' && error !== null && !origins.has(error)) origins.set(error, file)
  }

  function hostOf (url: string): ModuleHost {
    return {
      meta: createMeta(url, (specifier) => resolver.resolve(specifier, url)),
      load: async (specifier: unknown, options: unknown) => await importFrom(
        url, `${specifier}`, readAttributes(options)
      ),
      noteError,
      deadlineMs
    }
  }

  async function importFrom (
    importerUrl: string, specifier: string, attributes: Attributes
  ): Promise<Namespace> {
    const module = await loader.find({ specifier, attributes }, importerUrl)
    await (await start(module)).ended
    return module.namespace
  }

  /** `ended` is in an object, so that who waits for the start does not wait for the end. */
  async function start (module: ModuleRecord): Promise<{ readonly ended: Promise<void> }> {
    await loader.findRequested(module)
    link(module)
    // Who asked first starts first: everybody waits for all.
    await Promise.all(
      postOrder(module, ({ status }) => status === 'linked').map((linked) => linked.becomeReady())
    )
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
      return loader.files().filter(
        ({ status, evaluation }) => status === 'evaluated' && evaluation.error === undefined
      )
        .map(({ file, namespace }) => ({ file, exports: namespace }))
    },
    originOf: (error) => typeof error === 'object' && error !== null ? origins.get(error) : undefined
  }
}
