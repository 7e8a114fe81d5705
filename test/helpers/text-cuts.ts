// Finds where a text is cut at a limit. TypeScript tells texts from lists and bytes, which have `slice` too.

import { join, relative, sep } from 'node:path'
import ts from 'typescript'

export interface TextCut {
  /** The path below src/. */
  readonly file: string
  /** Such as `name.slice(0, MAX_NAME)`. */
  readonly code: string
}

/** A file that is not on the disk. */
export interface SampleFile { readonly path: string, readonly text: string }

/** Loads the sources of a folder, and those of the page in it, as TypeScript sees them. */
export function loadProgram (root: string, sample?: SampleFile): ts.Program {
  const { options, fileNames } = readConfig(join(root, 'tsconfig.build.json'))
  const page = readConfig(join(root, 'src/edges/console/page/tsconfig.json'))
  const { jsx, jsxImportSource, lib } = page.options
  const all: ts.CompilerOptions = {
    ...options, noEmit: true, ...jsx && { jsx }, ...jsxImportSource && { jsxImportSource }, ...lib && { lib }
  }
  const host = ts.createCompilerHost(all)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path === sample?.path || fileExists(path)
  host.getSourceFile = (path, target, ...rest) => path === sample?.path
    ? ts.createSourceFile(path, sample.text, target)
    : getSourceFile(path, target, ...rest)
  const samples = sample === undefined ? [] : [sample.path]
  return ts.createProgram([...fileNames, ...page.fileNames, ...samples], all, host)
}

function readConfig (path: string): ts.ParsedCommandLine {
  const fail = ({ messageText }: ts.Diagnostic) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'))
  }
  const config = ts.getParsedCommandLineOfConfigFile(
    path, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail }
  )
  if (config === undefined) throw new Error(`${path} cannot be read`)
  return config
}

/** Finds the cuts in all files of the program below the folder. */
export function findTextCuts (program: ts.Program, src: string): TextCut[] {
  const checker = program.getTypeChecker()
  const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${src}/`))
  return own.flatMap((source) => {
    const file = relative(src, source.fileName).split(sep).join('/')
    return cutsIn(source, checker).map((node) => ({ file, code: node.getText().replaceAll(/\s+/g, ' ') }))
  })
}

function cutsIn (source: ts.SourceFile, checker: ts.TypeChecker): ts.CallExpression[] {
  const cuts: ts.CallExpression[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isCut(node, checker)) cuts.push(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return cuts
}

/** `substring` and `substr` are always refused: `slice` says the same, and one name is enough to look for. */
function isCut (
  { expression, arguments: [start, end] }: ts.CallExpression, checker: ts.TypeChecker
): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false
  const { expression: receiver, name: { text: method } } = expression
  if (!/^(?:slice|substring|substr)$/.test(method) || !isOfText(receiver, checker)) return false
  if (method !== 'slice') return true
  const isAtLimit = end === undefined
    ? start !== undefined && isNegative(start) && hasLimit(start, checker)
    : !isNegative(end) && hasLimit(end, checker)
  return isAtLimit && !isAscii(receiver)
}

/** Whether it is a text, or the list of its characters. */
function isOfText (receiver: ts.Expression, checker: ts.TypeChecker): boolean {
  if (ts.isArrayLiteralExpression(receiver)) {
    return receiver.elements.some((one) => ts.isSpreadElement(one) && isText(one.expression, checker))
  }
  return isText(receiver, checker)
}

function isText (node: ts.Expression, checker: ts.TypeChecker): boolean {
  const type = checker.getTypeAtLocation(node)
  const parts = type.isUnion() ? type.types : [type]
  return parts.some(({ flags }) => (flags & ts.TypeFlags.StringLike) !== 0)
}

function isNegative (node: ts.Expression): boolean {
  return ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken
}

const LIMIT_NAME = /^(?:max|limit|left|room|width|columns)/i

/**
 * Whether a number comes from a constant or is named as a limit, and not from a place in the text. A step of
 * one belongs to a place.
 */
function hasLimit (node: ts.Node, checker: ts.TypeChecker): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.expression.getText() !== 'Math' && LIMIT_NAME.test(node.name.text)
  }
  if (ts.isNumericLiteral(node)) return Number(node.text) > 1
  if (ts.isIdentifier(node)) {
    const type = checker.getTypeAtLocation(node)
    return LIMIT_NAME.test(node.text) || (type.isNumberLiteral() && type.value > 1)
  }
  return ts.forEachChild(node, (child) => hasLimit(child, checker)) ?? false
}

/** Whether the text is a digest or a time. */
function isAscii (receiver: ts.Expression): boolean {
  return ts.isCallExpression(receiver) &&
    /(?:^hash|\.digest|\.to(?:ISO|Time)String)$/.test(receiver.expression.getText())
}
