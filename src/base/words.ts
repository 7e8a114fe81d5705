// Text of others, as people may see it at a terminal or in a log.

/** The text on one line, without characters that change how the line is shown. */
export function toPlain (text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
}
