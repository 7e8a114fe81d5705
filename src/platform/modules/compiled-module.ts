// A module's text, compiled. A compiled module belongs to no graph, so a reload compiles only changed files.

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { constants, Script } from 'node:vm'
import { Generations } from '../../base/generations.ts'
import { clock } from '../../base/time.ts'
import { toJavaScript } from './javascript.ts'
import type { ModuleRequest } from './module-facts.ts'
import { rewriteModule, type RewrittenModule } from './rewrite.ts'
import { placeAt, type SourcePlace } from './syntax.ts'

export interface CompiledModule extends Omit<RewrittenModule, 'code' | 'columnOffset'> {
  /** The hash of the text. */
  readonly digest: string
  readonly body: ModuleBody
  readonly places: ReadonlyMap<ModuleRequest, SourcePlace>
}

type ModuleBody = (
  /** Has a property for each imported name. */
  imports: object,
  /** Receives the value of a default export that has no name. */
  defaultExport: object,
  meta: object | undefined,
  load: (specifier: unknown, options?: unknown) => Promise<unknown>,
  /**
   * The first step calls it. `anonymous` is the default export if that is a hoisted function with no name.
   */
  define: (getters: { readonly [name: string]: Getter }, anonymous?: unknown) => void
) => Steps

export type Getter = () => unknown

/** The first step defines the exports. The second step runs the module. */
export type Steps = Generator<undefined, void> | AsyncGenerator<undefined, void>

interface CompiledText {
  /** A file that still has this stamp still has this text. `undefined`: only the digest shows it. */
  readonly stamp: string | undefined
  readonly compiled: CompiledModule
}

export class CompiledModules {
  readonly #texts = new Generations<CompiledText>()

  /** Compiles a file. Rejects with a SyntaxError when its text is not a valid module. */
  async read (file: string): Promise<CompiledModule> {
    const stamp = stampOf(file)
    const text = this.#texts.get(file)
    if (text?.stamp !== undefined && text.stamp === stamp) return text.compiled
    return await this.compile(readFileSync(file, 'utf8'), file, stamp)
  }

  /** Compiles a text as the text of this file. Rejects as `read` does. */
  async compile (source: string, file: string, stamp?: string): Promise<CompiledModule> {
    const digest = createHash('sha256').update(source).digest('base64')
    const text = this.#texts.get(file)
    const compiled = text?.compiled.digest === digest
      ? text.compiled
      : await compileModule(source, file, digest)
    return this.#texts.set(file, { stamp, compiled }).compiled
  }

  /** Ends a load. */
  forgetUnused (): void {
    this.#texts.forgetUnused()
  }
}

/** Longer than the steps of the clocks of file systems, in milliseconds. */
const CLOCK_STEP_MS = 3000

/**
 * `undefined` for a file that changed a moment ago: it may change again within the same step of the clock,
 * and keep its times. No program can set the time of the last change of status, `ctime`.
 */
function stampOf (file: string): string | undefined {
  const facts = statSync(file, { throwIfNoEntry: false })
  if (facts === undefined || clock.now() - Math.max(facts.ctimeMs, facts.mtimeMs) < CLOCK_STEP_MS) {
    return undefined
  }
  // Joined to one piece: V8 keeps a template text of numbers in nine pieces, and there is one for each file.
  return [facts.ctimeMs, facts.mtimeMs, facts.size, facts.ino, facts.dev].join(':')
}

async function compileModule (
  source: string, file: string, digest: string
): Promise<CompiledModule> {
  const javaScript = await toJavaScript(source, file)
  const { code, columnOffset, ...rewritten } = rewriteModule(javaScript)
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  return {
    ...rewritten,
    digest,
    body: bodyOf(new Script(code, { filename: file, columnOffset, importModuleDynamically })),
    places: new Map(rewritten.requests.map(
      (request) => [request, placeAt(javaScript.source, request.position, file)]
    ))
  }
}

/** A closure created in the scope of the syntax tree would keep the tree in memory. */
function bodyOf (script: Script): ModuleBody {
  return (...args) => script.runInThisContext()(...args)
}
