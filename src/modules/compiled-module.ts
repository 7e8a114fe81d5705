// A module's text, ready to run. Nothing here belongs to one graph, so that a reload compiles only changed
// files.

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

export type ModuleBody = (
  /** Has a property for each imported name. */
  imports: object,
  /** Takes the value of a default export that has no name. */
  fallback: object,
  meta: object,
  load: (specifier: unknown, options?: unknown) => Promise<unknown>,
  /**
   * Called by the first step. `anonymous` is a hoisted function that is the default export and has no name.
   */
  define: (getters: { readonly [name: string]: Getter }, anonymous?: unknown) => void
) => Steps

export type Getter = () => unknown

/** The first step defines the exports, the second runs the module. */
export type Steps = Generator<undefined, void> | AsyncGenerator<undefined, void>

export interface CompiledModules {
  /** Throws a SyntaxError for a text that is no module. */
  compile (source: string, file: string): Promise<CompiledModule>
  /** Forgets the files that were not asked for since the last call. */
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

/** Made here, because a closure made beside the syntax tree would keep the tree. */
function bodyOf (script: Script): ModuleBody {
  return (...parts) => script.runInThisContext()(...parts)
}

function placesOf (
  requests: readonly ModuleRequest[], source: string, file: string
): Map<ModuleRequest, Place> {
  return new Map(requests.map((request) => [request, { file, ...placeAt(source, request.position) }]))
}
