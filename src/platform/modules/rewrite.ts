// Rewrites a module's text as the body of a generator: imported names become properties of an object, import
// and export keywords become spaces, and all other text stays in its place. The first step of the generator
// defines the exports: hoisted functions exist and no statement has run. The second step runs the module.

import { tokenizer, tokTypes, type Token, type ExportDefaultDeclaration, type Program } from 'acorn'
import type { JavaScript } from './javascript.ts'
import { DEFAULT, readFacts, type ModuleFacts } from './module-facts.ts'
import { TextEdits } from './text-edits.ts'
import { readScopes, type TextRange, type TreeFacts } from './tree-facts.ts'

export interface RewrittenModule extends ModuleFacts {
  readonly code: string
  /** Minus the number of characters before the author's first one. */
  readonly columnOffset: number
  /** Whether it awaits at its top level. */
  readonly isAsync: boolean
  /** Whether it contains `import.meta`. */
  readonly usesMeta: boolean
  /** Whether it contains `import()`. */
  readonly importsDynamically: boolean
  /** What an `import()` names, where that is a text. */
  readonly dynamicSpecifiers: readonly string[]
  readonly actsAtTopLevel: boolean
}

/** An unused import of a TypeScript file is dropped, because it may name a type. */
export function rewriteModule ({ source, program, tree, mayImportTypes }: JavaScript): RewrittenModule {
  const { imported, globalArguments } = readScopes(program)
  const facts = readFacts(program, {
    name: (local) => mayImportTypes && imported.get(local)?.length === 0,
    statement: ({ start }) => mayImportTypes && secondToken(source, start).type !== tokTypes.string
  })
  const names = freeNames(tree.names)
  const edits = new TextEdits(source)

  if (source.startsWith('#!')) edits.replace(0, 2, '//')
  for (const at of tree.htmlComments) edits.insert(at, ' ')
  for (const { start, end } of tree.metas) edits.replace(start, end, names.meta)
  for (const { start, end } of tree.dynamicImports) edits.replace(start, end, names.load)
  for (const { start, end } of globalArguments) {
    const expression = tree.typeofs.get(start)
    if (expression === undefined) edits.replace(start, end, `${names.imports}.arguments`)
    else edits.replace(expression.start, expression.end, '"undefined"')
  }
  for (const node of program.body) {
    if (node.type === 'ExportDefaultDeclaration') rewriteDefault(node, source, edits, names)
    else if (node.type === 'ExportNamedDeclaration' && node.declaration != null) {
      edits.replace(node.start, node.declaration.start, '')
    } else if (/^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type)) {
      // The semicolon keeps the statements before and after it apart.
      edits.replace(node.start, node.end, ';')
    }
  }
  for (const [name, references] of imported) {
    for (const range of references) {
      if (!tree.exported.has(range.start)) rewriteReference(range, `${names.imports}.${name}`, tree, edits)
    }
  }

  const definitions = definition(facts, names, isHoistedDefault(program))
  const start = `(${tree.isAsync ? 'async ' : ''}function*(${Object.values(names).join()}){`
  const head = `${start}"use strict";${definitions};yield;`
  return {
    ...facts,
    code: `${head}${edits.apply()}\n})`,
    columnOffset: -head.length,
    isAsync: tree.isAsync,
    usesMeta: tree.metas.length > 0,
    importsDynamically: tree.dynamicImports.length > 0,
    dynamicSpecifiers: tree.dynamicSpecifiers,
    actsAtTopLevel: tree.actsAtTopLevel
  }
}

type Names = ReturnType<typeof freeNames>

/** Names for the code around the module. They differ from all names in the module. */
function freeNames (used: ReadonlySet<string>) {
  for (let prefix = '$'; ; prefix += '$') {
    const names = {
      imports: prefix,
      defaultExport: `${prefix}d`,
      meta: `${prefix}m`,
      load: `${prefix}i`,
      define: `${prefix}x`,
      hoisted: `${prefix}h`
    }
    if (!Object.values(names).some((name) => used.has(name))) return names
  }
}

/** `hoisted` is a parameter that a function declaration of the same name replaces. */
function definition (
  { localExports, imports }: ModuleFacts, names: Names, hasHoistedDefault: boolean
): string {
  const getters = [...localExports].map(([name, local]) => {
    if (local === DEFAULT) {
      return `["default"]:${hasHoistedDefault ? `()=>${names.hoisted}` : `${names.defaultExport}.get`}`
    }
    return `[${JSON.stringify(name)}]:()=>${imports.has(local) ? `${names.imports}.` : ''}${local}`
  })
  return `${names.define}({${getters.join()}}${hasHoistedDefault ? `,${names.hoisted}` : ''})`
}

function isHoistedDefault (program: Program): boolean {
  return program.body.some(
    (node) => node.type === 'ExportDefaultDeclaration' && node.declaration.type === 'FunctionDeclaration' &&
      node.declaration.id == null
  )
}

function rewriteDefault (
  { start, end, declaration }: ExportDefaultDeclaration, source: string, edits: TextEdits,
  { defaultExport, hoisted }: Names
): void {
  // Parentheses may stand between the keywords and the expression.
  const keywords = (text: string) => edits.replace(start, endOfKeywords(source, start), text)
  const { type } = declaration
  const isUnnamed = 'id' in declaration && declaration.id == null
  if (type === 'FunctionDeclaration' || (type === 'ClassDeclaration' && !isUnnamed)) {
    keywords('')
    if (isUnnamed) edits.insert(parenthesisAfter(source, declaration.start), ` ${hoisted}`)
  } else if (type === 'ClassDeclaration' || (type === 'ClassExpression' && isUnnamed)) {
    // The object literal names the class before the static members run.
    keywords(`${defaultExport}.value={default:`)
    edits.insert(source[end - 1] === ';' ? end - 1 : end, '}.default;')
  } else {
    const isFunction = type === 'ArrowFunctionExpression' || (type === 'FunctionExpression' && isUnnamed)
    keywords(`${defaultExport}.${isFunction ? 'named' : 'value'}=`)
  }
}

const PLAIN_KEYWORDS = /export default\b/y

/** A tokenizer takes 15 µs. It is needed only if a comment or a line end stands between the keywords. */
function endOfKeywords (source: string, start: number): number {
  PLAIN_KEYWORDS.lastIndex = start
  return PLAIN_KEYWORDS.test(source) ? PLAIN_KEYWORDS.lastIndex : start + secondToken(source, start).end
}

function secondToken (source: string, from: number): Token {
  const tokens = tokenizer(source.slice(from), { ecmaVersion: 'latest' })
  tokens.getToken()
  return tokens.getToken()
}

function parenthesisAfter (source: string, from: number): number {
  for (const token of tokenizer(source.slice(from), { ecmaVersion: 'latest' })) {
    if (token.type === tokTypes.parenL) return from + token.start
  }
  throw new SyntaxError('a function without parameters')
}

/** A callee must not be a property access, which would pass the imports object as `this`. */
function rewriteReference (
  { start, end }: TextRange, reference: string, { callees, shorthands, statements }: TreeFacts,
  edits: TextEdits
): void {
  if (shorthands.has(start)) edits.insert(end, `:${reference}`)
  else if (!callees.has(start)) edits.replace(start, end, reference)
  // Without the semicolon, the parenthesis could turn the statement before it into a call.
  else edits.replace(start, end, `${statements.has(start) ? ';' : ''}(0,${reference})`)
}
