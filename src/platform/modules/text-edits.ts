// Edits a text without moving its lines. Columns stay too if a replacement is not longer than its range.

/** Collects edits. Their ranges must not overlap. */
export class TextEdits {
  readonly #source: string
  readonly #edits: Array<{ readonly start: number, readonly end: number, readonly text: string }> = []

  constructor (source: string) {
    this.#source = source
  }

  /** Puts a text in the place of a range. */
  exchange (start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text })
  }

  /** Replaces a range by a text, and fills the rest of the range with spaces. Line ends stay. */
  replace (start: number, end: number, text: string): void {
    this.exchange(start, end, text + blank(this.#source.slice(start, end), text.length))
  }

  insert (at: number, text: string): void {
    this.exchange(at, at, text)
  }

  /** Returns the source with all edits. */
  apply (): string {
    let result = ''
    let at = 0
    for (const { start, end, text } of this.#edits.toSorted((a, b) => a.start - b.start)) {
      result += this.#source.slice(at, start) + text
      at = end
    }
    return result + this.#source.slice(at)
  }
}

/** Replaces each character after the first `used` ones by a space. Line ends stay. */
function blank (text: string, used: number): string {
  const [first = '', ...pieces] = text.split(/(\r\n|[\n\r\u2028\u2029])/)
  return ' '.repeat(Math.max(0, first.length - used)) + pieces.map(
    (piece, index) => index % 2 === 0 ? piece : ' '.repeat(piece.length)
  ).join('')
}
