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
  /** How many pairs of letters it has. */
  readonly size: number
  /** How many of them the query has too. 0 between two queries. */
  shared: number
}

interface NearName { readonly name: string, readonly likeness: number }

/** Counts at the names, and sorts three. With a map, 50 like names took 24 µs, not 5; on Node 24 13. */
function indexNames (names: readonly string[]): FindNearestNames {
  const byPair = new Map<string, IndexedName[]>()
  for (const name of names) {
    const pairs = toPairs(name)
    const indexed = { name, size: pairs.size, shared: 0 }
    for (const pair of pairs) {
      const having = byPair.get(pair)
      if (having === undefined) byPair.set(pair, [indexed])
      else having.push(indexed)
    }
  }
  return (query, mayName) => {
    const pairs = toPairs(query.slice(0, MAX_COMPARED_LENGTH))
    const sharing: IndexedName[] = []
    for (const pair of pairs) {
      for (const indexed of byPair.get(pair) ?? []) if (indexed.shared++ === 0) sharing.push(indexed)
    }
    const nearest: NearName[] = []
    for (const indexed of sharing) {
      const { name, size, shared } = indexed
      indexed.shared = 0
      /** The Sørensen–Dice coefficient, from 0 to 1. */
      const coefficient = 2 * shared / (pairs.size + size)
      const likeness = Math.max(coefficient, likenessOfAbbreviation(query, name))
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
