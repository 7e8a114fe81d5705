// Finds the names that a misspelt name may mean.

const MAX_NEAREST = 3
/** No tool has a longer name. Longer texts are cut, because a client chooses them. */
const MAX_COMPARED_LENGTH = 128
/** The part of all pairs of letters that two names must share. */
const MIN_LIKENESS = 0.5

/** At most three of the names, the most similar first. Case, hyphens and underscores do not matter. */
export function findNearestNames (wanted: string, names: Iterable<string>): string[] {
  const pairs = toPairs(wanted.slice(0, MAX_COMPARED_LENGTH))
  if (pairs.size === 0) return []
  return Array.from(names, (name) => ({ name, likeness: likenessOf(pairs, toPairs(name)) }))
    .filter(({ likeness }) => likeness >= MIN_LIKENESS)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MAX_NEAREST)
    .map(({ name }) => name)
}

/** Each letter with the next one. */
function toPairs (name: string): Set<string> {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const pairs = new Set<string>()
  for (let index = 0; index < letters.length - 1; index++) pairs.add(letters.slice(index, index + 2))
  return pairs
}

/** From 0 to 1: the Sørensen–Dice coefficient. */
function likenessOf (a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared++
  return 2 * shared / (a.size + b.size)
}
