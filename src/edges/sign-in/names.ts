// The names of clients, as people must see them: a name may be made to look like another one.

import { clip } from '../../base/words.ts'

/** Characters that show nothing, or change how others are shown. */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** More marks than a letter has would cover the lines around it. */
const STACKED_MARKS = /(\p{M}{2})\p{M}+/gu
/** Letters, digits and marks beside those of English and its neighbours. Some look like these. */
const UNUSUAL = /(?![\u00c0-\u0130\u0132-\u0137\u0139-\u017e])[^\0-\x7f]/gu
const COUNTED = /[\p{L}\p{N}\p{M}]/u
const MAX_LENGTH = 60
const MAX_NAMED = 8

const toCode = (character: string) => (
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
)

/** Writes a name without what cannot be seen. */
export function toVisible (name: string): string {
  const visible = name.normalize('NFC').trim().replaceAll(STACKED_MARKS, '$1')
    .replaceAll(INVISIBLE, (character) => `[${toCode(character)}]`)
  return clip(visible, MAX_LENGTH)
}

/** Returns the letters of a name that may look like others, each with its code. */
export function findUnusual (name: string): readonly string[] {
  const letters = (toVisible(name).match(UNUSUAL) ?? []).filter((letter) => COUNTED.test(letter))
  return [...new Set(letters)].slice(0, MAX_NAMED).map((letter) => `${letter} (${toCode(letter)})`)
}
