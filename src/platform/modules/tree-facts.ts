// Reads from a module's syntax tree what rewriting needs. The key of an identifier is its start.

import type { AnyNode, Program } from 'acorn'
import { analyze, type Reference } from 'eslint-scope'
import type { Program as ESTreeProgram } from 'estree'
import { detach } from './module-facts.ts'
import { walk } from './syntax.ts'

export interface TextRange { readonly start: number, readonly end: number }

export class TreeFacts {
  /** Every identifier. */
  readonly names = new Set<string>()
  /** Callees, and tags of templates. */
  readonly callees = new Set<number>()
  /** `{ name }` and `{ name = 1 }`. */
  readonly shorthands = new Set<number>()
  /** Within `export { name }`. */
  readonly exported = new Set<number>()
  /** Statements in a list: without a semicolon, the text before one may continue into it. */
  readonly statements = new Set<number>()
  /** Each `typeof name`, by the start of the name. */
  readonly typeofs = new Map<number, TextRange>()
  /** Each `import` of an `import()`. */
  readonly dynamicImports: TextRange[] = []
  /** What an `import()` names, where that is a text. */
  readonly dynamicSpecifiers: string[] = []
  readonly metas: TextRange[] = []
  /** Each `!--` after a `<`. It is a comment in scripts, and an expression in modules. */
  readonly htmlComments: number[] = []
  /** Whether there is a top-level await. */
  isAsync = false
  /** Whether a statement outside functions calls or assigns something: it may write to what is imported. */
  actsAtTopLevel = false
  /** Whether there is a `using` declaration. */
  hasUsing = false
  /** Whether there is a comparison by `<`. */
  hasLessThan = false

  constructor (program: Program, source: string) {
    walk(program, (node, isInFunction) => this.#visit(node, isInFunction, source))
  }

  #visit (node: AnyNode, isInFunction: boolean, source: string): void {
    switch (node.type) {
      case 'Identifier': this.names.add(node.name); break
      case 'CallExpression': this.callees.add(node.callee.start); break
      case 'TaggedTemplateExpression': this.callees.add(node.tag.start); break
      case 'Property': if (node.shorthand) this.shorthands.add(node.key.start); break
      case 'ExportSpecifier': this.exported.add(node.local.start); break
      case 'Program': case 'BlockStatement': case 'StaticBlock':
        for (const { start } of node.body) this.statements.add(start)
        break
      case 'SwitchCase': for (const { start } of node.consequent) this.statements.add(start); break
      case 'ImportExpression':
        this.dynamicImports.push({ start: node.start, end: node.start + 'import'.length })
        if (node.source.type === 'Literal') this.dynamicSpecifiers.push(detach(String(node.source.value)))
        else if (node.source.type === 'TemplateLiteral' && node.source.expressions.length === 0) {
          this.dynamicSpecifiers.push(detach(String(node.source.quasis[0]?.value.cooked)))
        }
        break
      case 'MetaProperty': if (node.meta.name === 'import') this.metas.push(node); break
      case 'UnaryExpression':
        if (node.operator === 'typeof') this.typeofs.set(node.argument.start, node)
        if (source.startsWith('<!--', node.start - 1)) this.htmlComments.push(node.start)
        break
      case 'BinaryExpression': this.hasLessThan ||= node.operator === '<'; break
      case 'VariableDeclaration':
        this.hasUsing ||= node.kind === 'using' || node.kind === 'await using'
        this.isAsync ||= !isInFunction && node.kind === 'await using'
        break
      case 'ExpressionStatement': this.actsAtTopLevel ||= !isInFunction && isAct(node.expression); break
      case 'AwaitExpression': this.isAsync ||= !isInFunction; break
      case 'ForOfStatement': this.isAsync ||= !isInFunction && node.await
    }
  }
}

function isAct (expression: AnyNode): boolean {
  return expression.type === 'AwaitExpression' ? isAct(expression.argument) : expression.type !== 'Literal'
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
