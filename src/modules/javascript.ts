// The text of any module as JavaScript that this engine runs, on the author's lines.

import { extname } from 'node:path'
import type { Program } from 'acorn'
import typescript from '@swc/wasm-typescript'
import { hasUsing, lower } from './lower.ts'
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
  const isTypeScript = /^\.[cm]?ts$/.test(extension)
  const plain = isTypeScript ? withoutTypes(source) : extension.endsWith('x') ? undefined : source
  let error: unknown
  if (plain !== undefined) {
    try {
      const program = parseModule(plain, file)
      const tree = readTree(program, plain)
      if (hasUsing || !tree.hasUsing) return { source: plain, program, tree, mayImportTypes: isTypeScript }
    } catch (parseError) {
      error = parseError
    }
  }
  // What is no JavaScript may be more than JavaScript. Where it is not, the first error says it best.
  const lowered = await lower(source, file).catch((lowerError: unknown) => { throw error ?? lowerError })
  try {
    const program = parseModule(lowered, file)
    return { source: lowered, program, tree: readTree(program, lowered), mayImportTypes: false }
  } catch (loweredError) {
    throw error ?? loweredError
  }
}

/** Spaces in the place of the types. `undefined` where that is not enough, or the text is not TypeScript. */
function withoutTypes (source: string): string | undefined {
  try {
    return typescript.transformSync(source, { mode: 'strip-only', module: true }).code
  } catch {
    return undefined
  }
}
