/** An escape of half a surrogate pair in JSON, and not a backslash of the text itself. */
export const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/i

/** Returns each text of the value, name or member, that has half of a surrogate pair. */
export function findIllFormed (value: unknown): string[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [JSON.stringify(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [...findIllFormed(name), ...findIllFormed(member)])
}
