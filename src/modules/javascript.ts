// The text of any module as JavaScript that this engine runs, on the author's lines.

import { extname } from 'node:path'
import type { Program } from 'acorn'
import { hasUsing } from './engine.ts'
import { parseModule } from './syntax-tree.ts'
import { readTree, type TreeFacts } from './tree-facts.ts'

export interface JavaScript {
  readonly source: string
  readonly program: Program
  readonly tree: TreeFacts
  /** Whether imports may still be of types. */
  readonly mayImportTypes: boolean
}

/** Throws a SyntaxError that has a place in the author's text. */
export async function toJavaScript (source: string, file: string): Promise<JavaScript> {
  const extension = extname(file)
  const isTypeScript = extension.endsWith('ts')
  // Loaded with the first such file, which is at the start most often: it keeps the thread for a tenth of a
  // second.
  if (isTypeScript) await import('@swc/wasm-typescript')
  const asWritten = extension.endsWith('x') ? undefined : read(source, file, isTypeScript)
  const plain = isTypeScript && mayHaveTypes(asWritten) ? await withoutTypes(source, file) : asWritten
  if (isRunnable(plain)) return plain
  // What is no JavaScript may be more than JavaScript. Where it is neither, the parser of the author's own
  // text says best what is wrong.
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
    return { source, program, tree: readTree(program, source), mayImportTypes }
  } catch (error) {
    if (error instanceof SyntaxError) return error
    throw error
  }
}

function isRunnable (result: JavaScript | SyntaxError | undefined): result is JavaScript {
  return result !== undefined && !(result instanceof SyntaxError) && (hasUsing || !result.tree.hasUsing)
}

/** `f<T>(x)` is JavaScript too, and means something else there. Nothing else does. */
function mayHaveTypes (result: JavaScript | SyntaxError | undefined): boolean {
  return result === undefined || result instanceof SyntaxError || result.tree.hasLessThan
}

/**
 * Spaces stand in the place of the types. `undefined` where that is not enough, or the text is not
 * TypeScript.
 */
async function withoutTypes (source: string, file: string): Promise<JavaScript | SyntaxError | undefined> {
  const { default: { transformSync } } = await import('@swc/wasm-typescript')
  try {
    return read(transformSync(source, { mode: 'strip-only', module: true }).code, file, true)
  } catch {
    return undefined
  }
}
