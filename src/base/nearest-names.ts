// Finds the names that a misspelt name may mean.

const MAX_NEAREST = 3
/** No tool has a longer name. Longer texts are cut, because a client chooses them. */
const MAX_COMPARED_LENGTH = 128
/** The part of all pairs of letters that two names must share. */
const MIN_LIKENESS = 0.5

/**
 * At most three of the names, the most similar first. Case, hyphens and underscores do not matter.
 * @param mayName whether a name may be among them.
 */
export type FindNearestNames = (name: string, mayName: (name: string) => boolean) => string[]

/** The first call indexes the names. A service that is only called correctly never needs the index. */
export function createNearestNames (names: Iterable<string>): FindNearestNames {
  let find: FindNearestNames | undefined
  return (name, mayName) => {
    find ??= indexNames([...names])
    return find(name, mayName)
  }
}

function indexNames (names: readonly string[]): FindNearestNames {
  /** The positions of the names with each pair of letters. */
  const byPair = new Map<string, number[]>()
  const sizes = names.map((name, index) => {
    const pairs = toPairs(name)
    for (const pair of pairs) {
      const having = byPair.get(pair)
      if (having === undefined) byPair.set(pair, [index])
      else having.push(index)
    }
    return pairs.size
  })
  return (query, mayName) => {
    const pairs = toPairs(query.slice(0, MAX_COMPARED_LENGTH))
    const shared = new Map<number, number>()
    for (const index of [...pairs].flatMap((pair) => byPair.get(pair) ?? [])) {
      shared.set(index, (shared.get(index) ?? 0) + 1)
    }
    return Array.from(shared, ([index, count]) => {
      const name = names[index] ?? ''
      /** The Sørensen–Dice coefficient, from 0 to 1. */
      const likeness = 2 * count / (pairs.size + (sizes[index] ?? 0))
      return { name, likeness: Math.max(likeness, likenessOfAbbreviation(query, name)) }
    })
      .filter(({ name, likeness }) => likeness >= MIN_LIKENESS && mayName(name))
      .sort((a, b) => b.likeness - a.likeness)
      .slice(0, MAX_NEAREST)
      .map(({ name }) => name)
  }
}

/** Returns the part of the name's letters that an abbreviation of it has, such as `txt` of `text`. */
function likenessOfAbbreviation (short: string, name: string): number {
  if (short.length >= name.length) return 0
  const letters = name.toLowerCase()
  let place = 0
  for (const letter of short.toLowerCase()) {
    place = letters.indexOf(letter, place) + 1
    if (place === 0) return 0
  }
  return short.length / name.length
}

/** Each letter with the next one. */
function toPairs (name: string): Set<string> {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const pairs = new Set<string>()
  for (let index = 0; index < letters.length - 1; index++) pairs.add(letters.slice(index, index + 2))
  return pairs
}
