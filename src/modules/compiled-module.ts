// A module's text, compiled. A compiled module belongs to no graph, so a reload compiles only changed files.

import { createHash } from 'node:crypto'
import { constants, Script } from 'node:vm'
import { placeAt } from './syntax-tree.ts'
import type { Place } from './syntax-error.ts'
import { toJavaScript } from './javascript.ts'
import type { ModuleFacts, ModuleRequest } from './module-facts.ts'
import { rewriteModule } from './rewrite.ts'

export interface CompiledModule extends ModuleFacts {
  /** Whether it awaits at its top level. */
  readonly isAsync: boolean
  readonly body: ModuleBody
  readonly places: ReadonlyMap<ModuleRequest, Place>
}

type ModuleBody = (
  /** Has a property for each imported name. */
  imports: object,
  /** Receives the value of a default export that has no name. */
  defaultExport: object,
  meta: object,
  load: (specifier: unknown, options?: unknown) => Promise<unknown>,
  /**
   * The first step calls it. `anonymous` is the default export if that is a hoisted function with no name.
   */
  define: (getters: { readonly [name: string]: Getter }, anonymous?: unknown) => void
) => Steps

export type Getter = () => unknown

/** The first step defines the exports. The second step runs the module. */
export type Steps = Generator<undefined, void> | AsyncGenerator<undefined, void>

export interface CompiledModules {
  /** Rejects with a SyntaxError when the source is not a valid module. */
  compile (source: string, file: string): Promise<CompiledModule>
  /** Drops the files that were not compiled or looked up since the last call. */
  forgetUnused (): void
}

export function createCompiledModules (): CompiledModules {
  let earlier = new Map<string, Entry>()
  let current = new Map<string, Entry>()
  return {
    async compile (source, file) {
      const digest = createHash('sha256').update(source).digest('base64')
      const known = current.get(file) ?? earlier.get(file)
      const entry = known?.digest === digest ? known : { digest, compiled: await compileModule(source, file) }
      current.set(file, entry)
      return entry.compiled
    },
    forgetUnused () {
      earlier = current
      current = new Map()
    }
  }
}

interface Entry { readonly digest: string, readonly compiled: CompiledModule }

async function compileModule (source: string, file: string): Promise<CompiledModule> {
  const javaScript = await toJavaScript(source, file)
  const { code, columnOffset, ...rewritten } = rewriteModule(javaScript)
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  return {
    ...rewritten,
    body: bodyOf(new Script(code, { filename: file, columnOffset, importModuleDynamically })),
    places: placesOf(rewritten.requests, javaScript.source, file)
  }
}

/** A closure created in the scope of the syntax tree would keep the tree in memory. */
function bodyOf (script: Script): ModuleBody {
  return (...args) => script.runInThisContext()(...args)
}

function placesOf (
  requests: readonly ModuleRequest[], source: string, file: string
): Map<ModuleRequest, Place> {
  return new Map(requests.map((request) => [request, { file, ...placeAt(source, request.position) }]))
}
