// A catalog's module, TypeScript or JavaScript, as the body of an async function: types gone, imports explicit.
// Line numbers stay, so that an author's stack traces point into the author's file.

import { init, parse } from 'es-module-lexer'
import { transform } from 'sucrase'

export interface TranspiledModule {
  /** Refers to `exports`, `require`, and to the names in PARAMETERS. */
  readonly code: string
  /** The specifiers of its static imports, in order. */
  readonly imports: readonly string[]
}

/** What the code expects to be called with. */
export const PARAMETERS = ['exports', 'require', '__import', '__meta'] as const

export async function transpile (source: string, filePath: string): Promise<TranspiledModule> {
  await init
  const script = /\.[cm]?ts$/.test(filePath) ? sucrase(source, filePath, ['typescript']) : source
  const [specifiers] = parse(script, filePath)
  let rewritten = script
  const imports: string[] = []
  // From the end, so that the positions before a replacement hold.
  for (const found of [...specifiers].reverse()) {
    if (found.type === 'dynamic') rewritten = replaceAt(rewritten, found.importStart, 'import', '__import')
    else if (found.type === 'import-meta') rewritten = replaceAt(rewritten, found.importStart, 'import.meta', '__meta')
    else imports.unshift(found.specifier)
  }
  return { code: sucrase(rewritten, filePath, ['imports']), imports }
}

function sucrase (source: string, filePath: string, transforms: Array<'typescript' | 'imports'>): string {
  return transform(source, { transforms, filePath, disableESTransforms: true, production: true }).code
}

function replaceAt (text: string, start: number, old: string, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(start + old.length)
}
