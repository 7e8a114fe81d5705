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

interface IndexedName {
  readonly name: string
  /** The name in lower case. */
  readonly letters: string
  /** How many pairs of letters it has. */
  readonly size: number
  /** How many of them the query has too. 0 between two queries. */
  shared: number
}

interface NearName { readonly name: string, readonly likeness: number }

/** 50 like names take 2.4 µs. With counts in a map it was 24, with a search for each letter 5 (Node 20). */
function indexNames (names: readonly string[]): FindNearestNames {
  const byPair = new Map<string, IndexedName[]>()
  for (const name of names) {
    const pairs = toPairs(name)
    const indexed = { name, letters: name.toLowerCase(), size: pairs.size, shared: 0 }
    for (const pair of pairs) {
      const having = byPair.get(pair)
      if (having === undefined) byPair.set(pair, [indexed])
      else having.push(indexed)
    }
  }
  return (query, mayName) => {
    const queryLetters = query.toLowerCase()
    const pairs = toPairs(queryLetters.slice(0, MAX_COMPARED_LENGTH))
    const sharing: IndexedName[] = []
    for (const pair of pairs) {
      for (const indexed of byPair.get(pair) ?? []) if (indexed.shared++ === 0) sharing.push(indexed)
    }
    const nearest: NearName[] = []
    for (const indexed of sharing) {
      const { name, letters, size, shared } = indexed
      indexed.shared = 0
      /** The Sørensen–Dice coefficient, from 0 to 1. */
      const coefficient = 2 * shared / (pairs.size + size)
      const likeness = Math.max(coefficient, likenessOfAbbreviation(queryLetters, letters))
      const isNear = likeness >= MIN_LIKENESS && likeness > (nearest[MAX_NEAREST - 1]?.likeness ?? 0)
      if (isNear && mayName(name)) insert(nearest, { name, likeness })
    }
    return nearest.map(({ name }) => name)
  }
}

/** Keeps the order: of equally similar names the first one stays first. */
function insert (nearest: NearName[], near: NearName): void {
  const place = nearest.findIndex(({ likeness }) => likeness < near.likeness)
  nearest.splice(place === -1 ? nearest.length : place, 0, near)
  nearest.length = Math.min(nearest.length, MAX_NEAREST)
}

/** Returns the part of the letters that an abbreviation of them has, such as `txt` of `text`. */
function likenessOfAbbreviation (short: string, letters: string): number {
  if (short.length >= letters.length) return 0
  let count = 0
  for (let place = 0; place < letters.length; place++) {
    if (letters.charCodeAt(place) === short.charCodeAt(count)) count++
  }
  return count === short.length ? short.length / letters.length : 0
}

/** Each letter with the next one. */
function toPairs (name: string): Set<string> {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const pairs = new Set<string>()
  for (let index = 0; index < letters.length - 1; index++) pairs.add(letters.slice(index, index + 2))
  return pairs
}
