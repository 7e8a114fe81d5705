// Parses JavaScript to a syntax tree, and walks over the tree.

import { parse, type AnyNode, type Program } from 'acorn'
import { syntaxError } from './syntax-error.ts'

/** Throws a SyntaxError that has a place. */
export function parseModule (source: string, file: string): Program {
  try {
    return parse(source, { ecmaVersion: 'latest', sourceType: 'module', ranges: true, allowHashBang: true })
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error) || typeof error.pos !== 'number') throw error
    // The parser's message ends with the place.
    throw syntaxError(error.message.replace(/ \(\d+:\d+\)$/, ''), { file, ...placeAt(source, error.pos) })
  }
}

/** The line, from 1, and the column, from 0, of a position in a text. */
export function placeAt (source: string, position: number): { line: number, column: number } {
  const lines = source.slice(0, position).split(/\r\n|[\n\r\u2028\u2029]/)
  return { line: lines.length, column: lines.at(-1)?.length ?? 0 }
}

/** Visits each node, parents first. In a function, an `await` is no top-level await. */
export function walk (
  node: AnyNode, visit: (node: AnyNode, isInFunction: boolean) => void, isInFunction = false
): void {
  visit(node, isInFunction)
  const isWithin = isInFunction || isFunction(node)
  let key: keyof AnyNode
  for (key in node) {
    const value: unknown = node[key]
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) walk(item, visit, isWithin)
    } else if (isNode(value)) walk(value, visit, isWithin)
  }
}

function isNode (value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function isFunction ({ type }: AnyNode): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'
}
