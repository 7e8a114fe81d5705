// The words of messages: counted nouns, quoted texts, and the text of an error.

/** Writes a number with its noun: `1 tool`, `2 tools`. */
export function counted (count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** Returns the message of an error, or the text of any other value that was thrown. */
export function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Quotes a text of others as JSON: it may have line ends, quotes or a megabyte. */
export function quote (text: string): string {
  return JSON.stringify(clip(text))
}

/** Cuts a text, and marks the cut. */
export function clip (text: string, maxLength = 100): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}

/** Puts a text on one line, without characters that change how the line is shown. */
export function toPlain (text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
}
