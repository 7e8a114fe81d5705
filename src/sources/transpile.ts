// A catalog's module, TypeScript or JavaScript, as the body of an async function: types gone, imports explicit.
// Line numbers stay, so that an author's stack traces point into the author's file.

import { init, parse, type Import, type StaticImport as FoundImport } from 'es-module-lexer'
import { transform } from 'sucrase'

export interface StaticImport {
  readonly specifier: string
  /** The exports that it names; without those of `import *`. */
  readonly names: readonly string[]
}

export interface TranspiledModule {
  /** Refers to `exports` and to the other names in PARAMETERS. */
  readonly code: string
  /** In the order in which they are written. */
  readonly imports: readonly StaticImport[]
}

/** What the code expects to be called with. `__static` gives the module of a static import, by its index. */
export const PARAMETERS = ['exports', '__static', '__import', '__meta'] as const

export async function transpile (source: string, filePath: string): Promise<TranspiledModule> {
  await init
  const plain = source.replace(/^#!/, '//')
  const script = /\.[cm]?ts$/.test(filePath) ? sucrase(plain, filePath, ['typescript']) : plain
  const found = findImports(script, filePath)
  const statics = found.filter(isStatic)
  let rewritten = script
  // From the end, so that the positions before a replacement hold.
  for (const one of found.toReversed()) {
    // Known again after the imports have become calls: the author may have a `require` of their own.
    if (isStatic(one)) rewritten = replaceAt(rewritten, one.start, one.end - one.start, `trivet-import:${statics.indexOf(one)}/import_${baseName(one.specifier)}`)
    else if (one.type === 'dynamic') rewritten = replaceAt(rewritten, one.importStart, 'import'.length, '__import')
    else rewritten = replaceAt(rewritten, one.importStart, 'import.meta'.length, '__meta')
  }
  return {
    code: sucrase(rewritten, filePath, ['imports'])
      .replace(/\brequire\('trivet-import:(\d+)\/\w+'\)/g, '__static($1)')
      // An imported function is called as it is: some callables (ArkType's) have no `call`.
      .replace(/\b(_import_\w*\.[\w$]+)\.call\(void 0, /g, '$1('),
    imports: statics.map(({ specifier, importStart, importEnd }) => ({ specifier, names: namesIn(script.slice(importStart, importEnd)) }))
  }
}

const isStatic = (found: Import): found is FoundImport => found.type === 'static' || found.type === 'reexport-star'

function findImports (script: string, filePath: string): readonly Import[] {
  try {
    return parse(script, filePath)[0]
  } catch (error) {
    // The parser says where the fault lies, which the lexer cannot.
    sucrase(script, filePath, ['imports'])
    throw error
  }
}

/** For variables that say in a stack trace what was imported. */
function baseName (specifier: string): string {
  return specifier.replace(/^[^]*\//, '').replace(/\.\w+$/, '').replace(/\W/g, '')
}

/** The names between the braces of an import statement. */
function namesIn (statement: string): string[] {
  const [, list = ''] = /\{([^}]*)\}\s*from\b/.exec(statement.replace(/\/\*[^]*?\*\/|\/\/.*/g, ' ')) ?? []
  return [...list.matchAll(/(?:^|,)\s*([^\s,'"]+)/g)].map(([, name = '']) => name)
}

function sucrase (source: string, filePath: string, transforms: Array<'typescript' | 'imports'>): string {
  return transform(source, { transforms, filePath, disableESTransforms: true, production: true }).code
}

function replaceAt (text: string, start: number, length: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(start + length)
}
