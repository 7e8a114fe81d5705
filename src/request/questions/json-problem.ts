// Finds values that JSON would change: they cannot travel through the client and come back the same.

const MAX_DEPTH = 64

/**
 * The first problem of the value, with its place. `undefined` for a value that is JSON. A member of an object
 * may be undefined: JSON leaves it out.
 */
export function findJsonProblem (value: unknown, place: string, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${place} is ${value}`
  if (typeof value === 'undefined') return `${place} is undefined`
  if (typeof value !== 'object') return `${place} is a ${typeof value}`
  if (depth === MAX_DEPTH) return `${place} is nested deeper than ${MAX_DEPTH} levels, or is part of itself`
  if (!Array.isArray(value) && !isPlain(value)) {
    return `${place} is an instance of ${value.constructor?.name ?? 'a class'}`
  }
  // Not `forEach`: it skips the holes of an array.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    const memberPlace = typeof key === 'number' ? `${place}[${key}]` : `${place}.${key}`
    const problem = findJsonProblem(member, memberPlace, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Whether the value is an object literal or comes from JSON.parse, also in another realm. */
function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null)
}
