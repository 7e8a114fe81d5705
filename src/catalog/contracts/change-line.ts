// Where a file defines a primitive.

/**
 * The line, from 1, where the text of a module has the name or the URI of a primitive as a member.
 * `undefined` if it has none: the name may be computed, or be the name of the file.
 */
export function findDefinitionLine (text: string, key: string): number | undefined {
  const lines = text.split('\n')
  const quoted = ['\'', '"', '`'].map((quote) => `${quote}${key}${quote}`)
  const found = lines.findIndex((line) => (
    /\b(?:name|uri|uriTemplate)["']?\s*:/.test(line) && quoted.some((one) => line.includes(one))
  ))
  return found === -1 ? undefined : found + 1
}
