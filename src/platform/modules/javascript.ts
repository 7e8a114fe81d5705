// Turns the text of any module into JavaScript that this engine runs. Each statement stays on its line.

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
  // Loaded at the first TypeScript file, because loading it blocks the thread for 20 ms. That is usually
  // before the service listens.
  const typeScript = extension.endsWith('ts') ? await loadTypeScript() : undefined
  const asWritten = extension.endsWith('x') ? undefined : read(source, file, typeScript !== undefined)
  const plain = typeScript !== undefined && mayHaveTypes(asWritten)
    ? withoutTypes(typeScript, source, file)
    : asWritten
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

/** The build puts the package's WebAssembly into a file: as a text, it takes 26 ms and 10 MB more to load. */
async function loadTypeScript (): Promise<TypeScript> {
  return (await import('@swc/wasm-typescript')).default
}

/** Replaces types by spaces. `undefined` if types alone cannot be removed, or the text is not TypeScript. */
function withoutTypes (
  typeScript: TypeScript, source: string, file: string
): JavaScript | SyntaxError | undefined {
  try {
    return read(typeScript.transformSync(source, { mode: 'strip-only', module: true }).code, file, true)
  } catch {
    return undefined
  }
}
