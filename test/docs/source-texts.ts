// The texts of the sources that people read: what the log says, and what errors say.

import ts from 'typescript'

/** A line of the log of level warn or above. */
export interface LogLine {
  /** The file, as `features/tasks/runs/runner.ts`. */
  readonly file: string
  /** With `…` for values. `undefined` if the text comes from elsewhere. */
  readonly text: string | undefined
}

const LEVELS = new Set(['warn', 'error', 'fatal'])
const LOG = /(?:^|\.|#)(?:\w+L|l)og(?:ger)?$/

/** Returns the text of a literal, a template, or a sum of them, with `…` for values. */
function textOf (node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === undefined && right === undefined ? undefined : (left ?? '…') + (right ?? '…')
}

const parsed = new Map<string, ts.SourceFile>()

/** Parses each text once. */
function parse (source: string): ts.SourceFile {
  const file = parsed.get(source) ?? ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  parsed.set(source, file)
  return file
}

function visit (source: string, see: (node: ts.Node) => boolean): void {
  const walk = (node: ts.Node): void => { if (see(node)) ts.forEachChild(node, walk) }
  walk(parse(source))
}

/** Returns every text of a source. */
export function readTexts (source: string): string[] {
  const texts: string[] = []
  visit(source, (node) => {
    const text = textOf(node)
    if (text === undefined) return true
    texts.push(text)
    // A value within a template may be a text too.
    return ts.isTemplateExpression(node)
  })
  return texts
}

/** Returns the lines that a source writes to the log, also those that `createOutageLog` writes for it. */
export function readLogLines (file: string, source: string): LogLine[] {
  const lines: LogLine[] = []
  visit(source, (node) => {
    if (!ts.isCallExpression(node)) return true
    const { expression: callee, arguments: args } = node
    if (ts.isIdentifier(callee) && callee.text === 'createOutageLog') {
      const message = args[0] && ts.isObjectLiteralExpression(args[0])
        ? args[0].properties.find((property) => property.name?.getText() === 'message')
        : undefined
      const text = message && ts.isPropertyAssignment(message) ? textOf(message.initializer) : undefined
      lines.push({ file, text })
    }
    if (ts.isPropertyAccessExpression(callee) && LEVELS.has(callee.name.text) &&
      LOG.test(callee.expression.getText())) {
      const last = args.at(-1)
      lines.push({ file, text: last && textOf(last) })
    }
    return true
  })
  return lines
}
