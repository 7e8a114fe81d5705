// Turns the text of any module into JavaScript that this engine runs. Each statement stays on its line.

import { createRequire } from 'node:module'
import { extname } from 'node:path'
import type { Program } from 'acorn'
import { engineHasUsing, parseModule } from './syntax.ts'
import { TreeFacts } from './tree-facts.ts'

export interface JavaScript {
  readonly source: string
  readonly program: Program
  readonly tree: TreeFacts
  /** Whether an import may name a type. */
  readonly mayImportTypes: boolean
}

/** Rejects with a SyntaxError that has a place in the author's text. */
export async function toJavaScript (source: string, file: string): Promise<JavaScript> {
  const extension = extname(file)
  const isTypeScript = extension.endsWith('ts')
  // Loaded at the first TypeScript file, because loading it blocks the thread for a tenth of a second. That
  // is usually before the service listens.
  if (isTypeScript) loadTypeScript()
  const asWritten = extension.endsWith('x') ? undefined : read(source, file, isTypeScript)
  const plain = isTypeScript && mayHaveTypes(asWritten) ? withoutTypes(source, file) : asWritten
  if (isRunnable(plain)) return plain
  // The text may have syntax that must be lowered. If it is invalid too, the error of the author's own text
  // is the most exact one.
  const { lower } = await import('./lower.ts')
  const lowered = await lower(source, file)
    .then((text) => read(text, file, false), (error: unknown) => {
      throw plain instanceof SyntaxError ? plain : error
    })
  if (isRunnable(lowered)) return lowered
  throw plain instanceof SyntaxError ? plain : lowered
}

function read (source: string, file: string, mayImportTypes: boolean): JavaScript | SyntaxError {
  try {
    const program = parseModule(source, file)
    return { source, program, tree: new TreeFacts(program, source), mayImportTypes }
  } catch (error) {
    if (error instanceof SyntaxError) return error
    throw error
  }
}

function isRunnable (result: JavaScript | SyntaxError | undefined): result is JavaScript {
  return result !== undefined && !(result instanceof SyntaxError) && (engineHasUsing || !result.tree.hasUsing)
}

/** `f<T>(x)` is the only TypeScript syntax that is also valid JavaScript with another meaning. */
function mayHaveTypes (result: JavaScript | SyntaxError | undefined): boolean {
  return result === undefined || result instanceof SyntaxError || result.tree.hasLessThan
}

type TypeScript = typeof import('@swc/wasm-typescript')

/** Present after the first TypeScript file: to make a `require` for each file takes 0.4 s for 20,000. */
let typeScript: TypeScript | undefined

/** An `import` takes 50 ms more: Node reads the whole text to find out whether it is an ES module. */
function loadTypeScript (): TypeScript {
  const loaded: TypeScript = typeScript ?? createRequire(import.meta.url)('@swc/wasm-typescript')
  typeScript = loaded
  return loaded
}

/** Replaces types by spaces. `undefined` if types alone cannot be removed, or the text is not TypeScript. */
function withoutTypes (source: string, file: string): JavaScript | SyntaxError | undefined {
  try {
    return read(loadTypeScript().transformSync(source, { mode: 'strip-only', module: true }).code, file, true)
  } catch {
    return undefined
  }
}
