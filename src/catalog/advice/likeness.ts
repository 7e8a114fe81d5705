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
  /** The sets so far, by each of their rare words. */
  const byRareWord = new Map<string, number[]>()
  return sets.map((words, index) => {
    if (words.size < MIN_WORDS) return undefined
    const rareWords = toRareWords(words, uses)
    const likely = [...new Set(rareWords.flatMap((word) => byRareWord.get(word) ?? []))]
    for (const word of rareWords) {
      const users = byRareWord.get(word)
      if (users === undefined) byRareWord.set(word, [index])
      else users.push(index)
    }
    return likely.toSorted((a, b) => a - b)
      .find((other) => likeness(words, sets[other] ?? new Set()) >= ALIKE)
  })
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
function likeness (one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length
  return common / (one.size + other.size - common)
}
