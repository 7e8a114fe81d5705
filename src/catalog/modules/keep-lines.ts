// Moves each token of a generated text to the author's line, and to the author's column if there is room.
// Stack traces then show the author's places without a source map.

import { decode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { tokenizer, tokTypes } from 'acorn'

/** @param map the source map of the code, as JSON. */
export function keepLines (code: string, map: string): string {
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
