// Reads from a module's syntax tree what rewriting needs. The key of an identifier is its start.

import type { AnyNode, Program } from 'acorn'
import { analyze, type Reference } from 'eslint-scope'
import type { Program as ESTreeProgram } from 'estree'
import { walk } from './syntax.ts'

export interface TextRange { readonly start: number, readonly end: number }

export interface TreeFacts {
  /** Every identifier. */
  readonly names: ReadonlySet<string>
  /** Callees, and tags of templates. */
  readonly callees: ReadonlySet<number>
  /** `{ name }` and `{ name = 1 }`. */
  readonly shorthands: ReadonlySet<number>
  /** Within `export { name }`. */
  readonly exported: ReadonlySet<number>
  /** Statements in a list: without a semicolon, the text before one may continue into it. */
  readonly statements: ReadonlySet<number>
  /** Each `typeof name`, by the start of the name. */
  readonly typeofs: ReadonlyMap<number, TextRange>
  /** Each `import` of an `import()`. */
  readonly dynamicImports: readonly TextRange[]
  readonly metas: readonly TextRange[]
  /** Each `!--` after a `<`. It is a comment in scripts, and an expression in modules. */
  readonly htmlComments: readonly number[]
  /** Whether there is a top-level await. */
  readonly isAsync: boolean
  /** Whether there is a `using` declaration. */
  readonly hasUsing: boolean
  /** Whether there is a comparison by `<`. */
  readonly hasLessThan: boolean
}

export function readTree (program: Program, source: string): TreeFacts {
  const names = new Set<string>()
  const callees = new Set<number>()
  const shorthands = new Set<number>()
  const exported = new Set<number>()
  const statements = new Set<number>()
  const typeofs = new Map<number, TextRange>()
  const dynamicImports: TextRange[] = []
  const metas: TextRange[] = []
  const htmlComments: number[] = []
  let isAsync = false
  let hasUsing = false
  let hasLessThan = false

  function visit (node: AnyNode, isInFunction: boolean): void {
    switch (node.type) {
      case 'Identifier': names.add(node.name); break
      case 'CallExpression': callees.add(node.callee.start); break
      case 'TaggedTemplateExpression': callees.add(node.tag.start); break
      case 'Property': if (node.shorthand) shorthands.add(node.key.start); break
      case 'ExportSpecifier': exported.add(node.local.start); break
      case 'Program': case 'BlockStatement': case 'StaticBlock':
        for (const { start } of node.body) statements.add(start)
        break
      case 'SwitchCase': for (const { start } of node.consequent) statements.add(start); break
      case 'ImportExpression':
        dynamicImports.push({ start: node.start, end: node.start + 'import'.length })
        break
      case 'MetaProperty': if (node.meta.name === 'import') metas.push(node); break
      case 'UnaryExpression':
        if (node.operator === 'typeof') typeofs.set(node.argument.start, node)
        if (source.startsWith('<!--', node.start - 1)) htmlComments.push(node.start)
        break
      case 'BinaryExpression': hasLessThan ||= node.operator === '<'; break
      case 'VariableDeclaration':
        hasUsing ||= node.kind === 'using' || node.kind === 'await using'
        isAsync ||= !isInFunction && node.kind === 'await using'
        break
      case 'AwaitExpression': isAsync ||= !isInFunction; break
      case 'ForOfStatement': isAsync ||= !isInFunction && node.await
    }
  }

  walk(program, visit)
  return {
    names,
    callees,
    shorthands,
    exported,
    statements,
    typeofs,
    dynamicImports,
    metas,
    htmlComments,
    isAsync,
    hasUsing,
    hasLessThan
  }
}

interface ScopeFacts {
  /** The references to each imported name. */
  readonly imported: ReadonlyMap<string, readonly TextRange[]>
  /** References to `arguments` outside of functions. */
  readonly globalArguments: readonly TextRange[]
}

export function readScopes (program: Program): ScopeFacts {
  const { globalScope } = analyze(assertESTree(program), { ecmaVersion: 2026, sourceType: 'module' })
  const variables = globalScope?.childScopes[0]?.variables ?? []
  const imported = variables.filter(({ defs }) => defs.some(({ type }) => type === 'ImportBinding'))
  const outer = globalScope?.through ?? []
  return {
    imported: new Map(imported.map(({ name, references }) => [name, toRanges(references)])),
    globalArguments: outer.filter(({ identifier }) => identifier.name === 'arguments').map(toRange)
  }
}

/** Each range once: the analyzer reports the target of a destructuring with a default twice. */
function toRanges (references: readonly Reference[]): TextRange[] {
  return [...new Map(references.map(toRange).map((range) => [range.start, range])).values()]
}

/** The parser and the analyzer use the same tree, with different types. */
function assertESTree (program: object): ESTreeProgram {
  if (!isESTree(program)) throw new TypeError('the analyzer needs ranges')
  return program
}

function isESTree (program: object): program is ESTreeProgram {
  return 'range' in program && 'body' in program
}

function toRange ({ identifier: { range: [start, end] = [0, 0] } }: Reference): TextRange {
  return { start, end }
}
