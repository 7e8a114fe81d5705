// A module's text, ready to run. Nothing here belongs to one graph, so that a reload compiles only changed files.

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
  placeOf (request: ModuleRequest): Place
}

export type ModuleBody = (
  /** Has a property for each imported name. */
  imports: object,
  /** Takes the value of a default export that has no name. */
  fallback: object,
  meta: object,
  load: (specifier: unknown, options?: unknown) => Promise<unknown>,
  /** Called by the first step. `anonymous` is a hoisted function that is the default export and has no name. */
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
      const known = current.get(file) ?? earlier.get(file)
      const entry = known?.source === source ? known : { source, compiled: await compileModule(source, file) }
      current.set(file, entry)
      return entry.compiled
    },
    forgetUnused () {
      earlier = current
      current = new Map()
    }
  }
}

interface Entry { readonly source: string, readonly compiled: CompiledModule }

async function compileModule (source: string, file: string): Promise<CompiledModule> {
  const { source: javaScript, program, tree, mayImportTypes } = await toJavaScript(source, file)
  const { code, columnOffset, ...rewritten } = rewriteModule(javaScript, program, tree, mayImportTypes)
  const script = new Script(code, { filename: file, columnOffset, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
  return {
    ...rewritten,
    body: (...parts) => script.runInThisContext()(...parts),
    placeOf: ({ position }) => ({ file, ...placeAt(javaScript, position) })
  }
}
