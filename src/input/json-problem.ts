// What can travel through the client and come back as it was.

const MAX_DEPTH = 64

/**
 * Why a value is not JSON, with the place in it; `undefined` where it is. Members that are undefined do not
 * count.
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
  // Not `forEach` and the like: those pass over the holes of an array.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    const problem = findJsonProblem(
      member, typeof key === 'number' ? `${place}[${key}]` : `${place}.${key}`, depth + 1
    )
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Made by braces or by JSON.parse, in whichever realm. */
function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null)
}
