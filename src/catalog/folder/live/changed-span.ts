// Narrows a comparison of two lists. An edit of one file leaves the beginning and the end of a list as they
// were.

export interface ChangedSpan<E> { readonly before: readonly E[], readonly after: readonly E[] }

/** Returns both lists without the entries at their beginning and at their end that are the same. */
export function findChangedSpan<E> (
  before: readonly E[], after: readonly E[], isSame: (old: E, next: E) => boolean
): ChangedSpan<E> {
  const shorter = Math.min(before.length, after.length)
  const isSameAt = (oldIndex: number, nextIndex: number): boolean => {
    const [old, next] = [before[oldIndex], after[nextIndex]]
    return old !== undefined && next !== undefined && isSame(old, next)
  }
  let start = 0
  while (start < shorter && isSameAt(start, start)) start++
  let tail = 0
  while (tail < shorter - start && isSameAt(before.length - 1 - tail, after.length - 1 - tail)) tail++
  return { before: before.slice(start, before.length - tail), after: after.slice(start, after.length - tail) }
}
