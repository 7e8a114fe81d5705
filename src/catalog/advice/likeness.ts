// Finds descriptions that a model can hardly tell apart, among thousands.

/** The share of words that two descriptions have in common, from which on they are alike. */
const ALIKE = 0.8
/** Shorter descriptions have too few words to compare. */
const MIN_WORDS = 4

/** Returns, for each description, the index of the first one before it that is like it. */
export function findAlike (descriptions: readonly string[]): Array<number | undefined> {
  const sets = descriptions.map(toWords)
  const uses = new Map<string, number>()
  for (const words of sets) for (const word of words) uses.set(word, (uses.get(word) ?? 0) + 1)
  /** The sets so far, in ascending order, by each of their rare words. */
  const byRareWord = new Map<string, RareUse[]>()
  return sets.map((words, index) => {
    if (words.size < MIN_WORDS) return undefined
    const compared = new Set<number>()
    let first = index
    for (const [position, word] of toRareWords(words, uses).entries()) {
      const earlier = byRareWord.get(word) ?? []
      byRareWord.set(word, earlier)
      const left = words.size - position
      for (const use of earlier) {
        if (use.index >= first) break
        const maxCommon = Math.min(left, use.left)
        if (toLikeness(maxCommon, words.size, use.words.size) < ALIKE || compared.has(use.index)) continue
        compared.add(use.index)
        if (likeness(words, use.words) >= ALIKE) first = use.index
      }
      earlier.push({ index, words, left })
    }
    return first === index ? undefined : first
  })
}

/** A set that has a rare word. */
interface RareUse {
  readonly index: number
  readonly words: ReadonlySet<string>
  /**
   * How many of its words, in the order of their rareness, are from this one on. If it is the first one that
   * another set has too, they have no more in common.
   */
  readonly left: number
}

/**
 * Returns the rarest words of a set. Their number is one more than the words in which two sets that are alike
 * can differ. Two such sets share one of these words: only sets that share one are compared.
 */
function toRareWords (words: ReadonlySet<string>, uses: ReadonlyMap<string, number>): string[] {
  const count = words.size - Math.ceil(ALIKE * words.size) + 1
  const usesOf = (word: string) => uses.get(word) ?? 0
  // Words that are as rare are in one order for all sets.
  return [...words].toSorted((a, b) => usesOf(a) - usesOf(b) || (a < b ? -1 : 1)).slice(0, count)
}

function toWords (text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}

/** Words that both have, of the words that one of them has. */
function likeness (left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let common = 0
  for (const word of left) if (right.has(word)) common++
  return toLikeness(common, left.size, right.size)
}

const toLikeness = (common: number, size: number, otherSize: number) => common / (size + otherSize - common)
