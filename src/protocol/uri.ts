/** A scheme, and no character that no URI has. https://www.rfc-editor.org/rfc/rfc3986#section-3 */
const URI = /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`\p{Cc}]*$/iu

/** Whether the text can be a URI. International characters are accepted. */
export function isUri (text: string): boolean {
  return URI.test(text)
}
