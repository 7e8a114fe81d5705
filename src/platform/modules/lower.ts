// Compiles the syntax that becomes other code: enums, namespaces, parameter properties, JSX, decorators, and
// `using` if the engine does not support it. The result keeps the author's lines.

import { extname } from 'node:path'
import { decode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { tokenizer, tokTypes } from 'acorn'
import type { Loader, Message } from 'esbuild'
import { isBuildError, runInEsbuild } from './esbuild-process.ts'
import { engineHasUsing, syntaxError } from './syntax.ts'

const LOADERS: { readonly [extension: string]: Loader } = {
  '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx', '.jsx': 'jsx'
}

const OPTIONS = {
  format: 'esm',
  target: 'esnext',
  jsx: 'automatic',
  // A function or class that is renamed in the code keeps its `name` property.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'silent',
  sourcemap: 'external',
  sourcesContent: false
} as const

/** Rejects with a SyntaxError that has a place. */
export async function lower (source: string, file: string): Promise<string> {
  const options = {
    ...OPTIONS,
    loader: LOADERS[extname(file)] ?? 'js',
    supported: { decorators: false, using: engineHasUsing }
  }
  const run = async (text: string) => {
    return await runInEsbuild(async ({ transform }) => await transform(text, options))
  }
  try {
    // esbuild would read a text without imports and exports as a script.
    const { code, map, warnings } = await run(`${source}\nexport {}`)
    const requireCall = warnings.find(({ id }) => id === 'unsupported-require-call')
    if (requireCall !== undefined) {
      throw errorAt(
        '"import … = require()" is for CommonJS; write "import … from" instead', requireCall, file
      )
    }
    return keepLines(code, map)
  } catch (error) {
    if (!isBuildError(error)) throw error
    // An error at the end of the text would be about the added `export`.
    const alone = await run(source).catch((aloneError: unknown) => aloneError)
    const [first] = isBuildError(alone) ? alone.errors : error.errors
    throw errorAt(first?.text ?? error.message, first, file)
  }
}

function errorAt (message: string, at: Message | undefined, file: string): SyntaxError {
  return syntaxError(message, { file, line: at?.location?.line ?? 1, column: at?.location?.column ?? 0 })
}

/**
 * Moves each token of a generated text to the author's line, and to the author's column if there is room.
 * Stack traces then show the author's places without a source map.
 * @param map the source map of the code, as JSON.
 */
function keepLines (code: string, map: string): string {
  const { mappings }: { mappings: string } = JSON.parse(map)
  const fixed = fixedLines(code)
  const layout = new Layout()
  const segments = decode(mappings)
  for (const [index, line] of code.split('\n').entries()) {
    if (index > 0) layout.endLine(fixed.has(index))
    layout.add(
      fixed.has(index) ? line : line.trimStart(), segments[index] ?? [],
      fixed.has(index) ? 0 : line.length - line.trimStart().length
    )
  }
  return layout.text
}

/** The lines, from 0, whose start must not move: those within a template, and those after a line comment. */
function fixedLines (code: string): Set<number> {
  const fixed = new Set<number>()
  const lineOf = (position: number) => code.slice(0, position).split('\n').length - 1
  const tokens = tokenizer(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    onComment: (isBlock, _text, _start, end) => { if (!isBlock) fixed.add(lineOf(end) + 1) }
  })
  for (const { type, start, end } of tokens) {
    if (type === tokTypes.template) {
      for (let line = lineOf(start) + 1; line <= lineOf(end); line++) fixed.add(line)
    }
  }
  return fixed
}

/** A line break after one of these characters does not change the meaning of the code. */
const OPEN = new Set('([{,;:?.=+-*%&|<>!~^')

class Layout {
  text = ''
  #line = 0
  #column = 0
  #isLineOver = false

  /** @param isFixed whether the next line must start on a line of its own. */
  endLine (isFixed: boolean): void {
    if (isFixed) this.#newLine()
    else this.#isLineOver = true
  }

  /** @param removed the number of characters that were removed from the start of the line. */
  add (line: string, segments: SourceMapSegment[], removed: number): void {
    let at = 0
    for (const segment of segments) {
      if (segment.length === 1) continue
      const [generated, , originalLine, originalColumn] = segment
      const next = Math.max(0, generated - removed)
      this.#append(line.slice(at, next))
      at = next
      this.#moveTo(originalLine, originalColumn)
    }
    this.#append(line.slice(at))
  }

  #moveTo (line: number, column: number): void {
    if (this.#isLineOver || OPEN.has(this.text.trimEnd().at(-1) ?? ';')) {
      while (this.#line < line) this.#newLine()
    }
    if (this.#line === line && this.#column < column && !this.#isLineOver) {
      this.#append(' '.repeat(column - this.#column))
    }
  }

  #append (piece: string): void {
    if (piece === '') return
    if (this.#isLineOver) {
      this.#isLineOver = false
      this.#append(' ')
    }
    this.text += piece
    this.#column += piece.length
  }

  #newLine (): void {
    this.text += '\n'
    this.#line++
    this.#column = 0
    this.#isLineOver = false
  }
}
