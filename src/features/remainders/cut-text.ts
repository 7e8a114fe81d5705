// Cuts a text to a number of bytes, where a reader would.

import { cut } from '../../base/text.ts'

/** What a cut at a line comes behind, the best first. The end of a line is alone. */
const ENDS = [['\n'], ['. ', '! ', '? ', '。'], ['},', '],'], [' '], [',']]
/** The least part of a text that such a cut leaves. */
const LEAST_PART = 0.75

/**
 * Cuts a well-formed text to so many bytes of JSON: behind a line if one ends near the cut, otherwise behind
 * a sentence or a word, otherwise as `cut` does.
 */
export function cutAtLine (text: string, maxBytes: number): string {
  const end = countFitting(text, maxBytes)
  if (end === text.length) return text
  const head = cut(text, end)
  for (const marks of ENDS) {
    const at = Math.max(...marks.map((mark) => head.lastIndexOf(mark) + mark.length))
    if (at > head.length * LEAST_PART) return cut(head, at)
  }
  return head
}

/** Counts the code units at the beginning of the text whose JSON has so many bytes. */
function countFitting (text: string, maxBytes: number): number {
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    bytes += bytesOfUnit(text.charCodeAt(index))
    if (bytes > maxBytes) return index
  }
  return text.length
}

function bytesOfUnit (code: number): number {
  if (code < 0x20) return 6
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1
  // Two halves of a surrogate pair have four bytes.
  return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3
}
