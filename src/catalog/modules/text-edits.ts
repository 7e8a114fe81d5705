// Edits a text without moving its lines. Columns stay too if a replacement is not longer than its range.

export interface Edit { readonly start: number, readonly end: number, readonly text: string }

export interface TextEdits {
  /** Replaces a range by a text, and fills the rest of the range with spaces. Line ends stay. */
  replace (start: number, end: number, text: string): void
  insert (at: number, text: string): void
  /** The source with all changes. Ranges must not overlap. */
  apply (): string
}

export function createTextEdits (source: string): TextEdits {
  const edits: Edit[] = []
  return {
    replace: (start, end, text) => {
      edits.push({ start, end, text: text + blank(source.slice(start, end), text.length) })
    },
    insert: (at, text) => { edits.push({ start: at, end: at, text }) },
    apply: () => applyEdits(source, edits)
  }
}

/** The source with all edits. Their ranges must not overlap. */
export function applyEdits (source: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    result += source.slice(at, start) + text
    at = end
  }
  return result + source.slice(at)
}

/** Replaces each character after the first `used` ones by a space. Line ends stay. */
function blank (text: string, used: number): string {
  const [first = '', ...others] = text.split(/(\r\n|[\n\r\u2028\u2029])/)
  return ' '.repeat(Math.max(0, first.length - used)) + others.map(
    (piece, index) => index % 2 === 0 ? piece : ' '.repeat(piece.length)
  ).join('')
}
