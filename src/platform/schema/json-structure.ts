// Looks at the structure of a body before it is parsed: how deep its values are nested, and what its parts
// weigh. Without these limits a megabyte costs 10 to 50 times the CPU of a long text: 92,000 names take the
// parser 26 ms, 444,000 arrays 42 ms.

import { random } from '../../base/time.ts'

export interface StructureLimits {
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number
  /** The most that all parts may weigh. The count of combinations may be a few percent low. */
  readonly maxWeight: number
}

export const STRUCTURE_LIMITS = {
  /** How deep arrays and objects in the body of a request may be nested. */
  maxDepth: 128,
  /**
   * What the parts of a body may weigh in each MiB of the largest body. 7,000 rows with four members, two of
   * them texts, or 24,000 texts, 6,800 names of one object, 41,000 pairs of numbers weigh less.
   */
  maxWeight: 125_000
}

/**
 * What a part weighs: about 40 ns of CPU, from the parser to the answer. Numbers weigh nothing: the bytes
 * limit them. A member makes a combination from its name and the names before it in its object. The parser
 * makes a string for each new name, and a hidden class for most new combinations. The rows of a table have
 * the same few.
 */
const WEIGHTS = { text: 5, opening: 3, name: 1, combination: 18 } as const
/** A member has at least `"":"",`. */
const MAX_WEIGHT_OF_BYTE = (WEIGHTS.combination + WEIGHTS.text) / 6
/** A name has two. */
const MAX_WEIGHT_OF_QUOTE = WEIGHTS.combination / 2

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
/** `[` and `{`, `]` and `}` differ in one bit. */
const [OPEN, CLOSE, BRACE_BIT] = [0x5b, 0x5d, 0x20]
/** The prime of FNV-1a with 32 bits. */
const PRIME = 0x01000193
/** The golden ratio with 32 bits: it spreads hashes over a table. */
const SPREAD = 0x9e3779b1
/** A table of combinations has room for this many times the most, so that few share a place. */
const ROOM = 16

/**
 * Creates a function that returns the problem of a body. Only valid JSON has a useful answer. The depth
 * around the text counts.
 */
export function createStructureCheck (
  { maxDepth, maxWeight }: StructureLimits
): (json: Buffer, depthAround?: number) => string | undefined {
  // With a secret seed, a client cannot choose names with equal hashes.
  const seed = random.bytes(4).readInt32LE()
  /** The hash of the names so far in the open object of each level. */
  const hashes = new Int32Array(maxDepth + 1)
  const tableBits = Math.max(1, Math.ceil(Math.log2(ROOM * maxWeight / WEIGHTS.combination)))
  const maxQuotes = (maxWeight - WEIGHTS.opening * maxDepth) / MAX_WEIGHT_OF_QUOTE

  return (json, depthAround = 0) => {
    const mayBeHeavy = json.length * MAX_WEIGHT_OF_BYTE > maxWeight
    const levels = (maxDepth - depthAround) / 2
    const isPlain = !hasMore(json, OPEN, levels) && !hasMore(json, OPEN | BRACE_BIT, levels) &&
      !(mayBeHeavy && hasMore(json, QUOTE, maxQuotes))
    if (isPlain) return undefined
    // A set takes 25 ns for each name.
    const table = new Uint8Array(mayBeHeavy ? 2 ** tableBits : 0)
    let [depth, weight, start, end] = [depthAround, 0, 0, 0]
    for (let at = 0; at < json.length; at++) {
      const byte = json[at] ?? 0
      if (byte === QUOTE) {
        start = ++at
        while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
        end = at
        weight += WEIGHTS.text
      } else if (byte === COLON) {
        // The text before it is a name.
        weight += WEIGHTS.name - WEIGHTS.text
        if (!mayBeHeavy) continue
        const hash = hashes[depth] = hashOf(json, start, end, hashes[depth] ?? 0)
        const place = Math.imul(hash ^ (hash >>> 15), SPREAD) >>> (32 - tableBits)
        if (table[place] === 0) {
          table[place] = 1
          weight += WEIGHTS.combination - WEIGHTS.name
        }
      } else if ((byte & ~BRACE_BIT) === OPEN) {
        if (++depth > maxDepth) return `the body is nested deeper than ${maxDepth} levels`
        hashes[depth] = seed
        weight += WEIGHTS.opening
      } else if ((byte & ~BRACE_BIT) === CLOSE) depth--
      // The last text may turn out to be a name.
      if (weight > maxWeight + WEIGHTS.text) break
    }
    return weight > maxWeight ? describeWeight(maxWeight) : undefined
  }
}

function describeWeight (maxWeight: number): string {
  const { text, opening, name, combination } = WEIGHTS
  return `the body weighs more than ${maxWeight}: ${text} for each text, ${opening} for each array or ` +
    `object, ${name} for each name, ${combination} for each new combination of names. Send less at a time`
}

/** Whether the byte comes more often. Most bodies have few of it, and the search is native. */
function hasMore (json: Buffer, byte: number, times: number): boolean {
  let at = -1
  for (let count = 0; count <= times; count++) {
    at = json.indexOf(byte, at + 1)
    if (at === -1) return false
  }
  return true
}

/** Continues the hash with a name. */
function hashOf (json: Buffer, start: number, end: number, before: number): number {
  let hash = Math.imul(before ^ COLON, PRIME)
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (json[at] ?? 0), PRIME)
  return hash
}
