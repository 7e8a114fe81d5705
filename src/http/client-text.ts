const MAX_CHARACTERS = 200

/** Text of a client that is written to the log or to an error: cut, and only printable ASCII. */
export function toPrintable (text: string): string {
  const printable = text.slice(0, MAX_CHARACTERS).replace(/[^ -~]/g, '?')
  return text.length > MAX_CHARACTERS ? `${printable}...` : printable
}
