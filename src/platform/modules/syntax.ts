// The syntax of modules: syntax trees, places in a text, and errors that arise before a module runs.

import { Script } from 'node:vm'
import { parse, type AnyNode, type Program } from 'acorn'

/** A line counts from 1, a column from 0. */
export interface SourcePlace { readonly file: string, readonly line: number, readonly column: number }

/** The stack names the author's file. The property `loc` has the line and the column. */
export function syntaxError (message: string, place: SourcePlace | undefined): SyntaxError {
  return withPlace(new SyntaxError(message), place)
}

/** An error with one of the codes of Node's loader. */
export function loadError (
  ErrorType: ErrorConstructor, code: string, message: string, place?: SourcePlace
): Error {
  return withPlace(Object.assign(new ErrorType(message), { code }), place)
}

export function withPlace<E extends Error> (error: E, place: SourcePlace | undefined): E {
  if (place === undefined) return error
  const { file, line, column } = place
  error.stack = `${error.name}: ${error.message}\n    at ${file}:${line}:${column + 1}`
  return Object.assign(error, { loc: { line, column } })
}

/** Throws a SyntaxError that has a place. */
export function parseModule (source: string, file: string): Program {
  try {
    return parse(source, { ecmaVersion: 'latest', sourceType: 'module', ranges: true, allowHashBang: true })
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error) || typeof error.pos !== 'number') throw error
    // The parser's message ends with the place.
    throw syntaxError(error.message.replace(/ \(\d+:\d+\)$/, ''), placeAt(source, error.pos, file))
  }
}

/** Finds the place of a position in the text of a file. */
export function placeAt (source: string, position: number, file: string): SourcePlace {
  const lines = source.slice(0, position).split(/\r\n|[\n\r\u2028\u2029]/)
  return { file, line: lines.length, column: lines.at(-1)?.length ?? 0 }
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

/** Whether this JavaScript engine supports `using`. */
export const engineHasUsing = compiles('{ using a = null }')

function compiles (code: string): boolean {
  try {
    return new Script(code) instanceof Script
  } catch {
    return false
  }
}
