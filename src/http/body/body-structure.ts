// Looks at the structure of a body before it is parsed: how deep its values are nested, how many it has, and
// how many combinations of names its objects have. Without these limits a megabyte costs 10 to 50 times the
// CPU of a long text: 92,000 names take the parser 26 ms, 444,000 arrays 42 ms.

import { random } from '../../base/time.ts'

export interface StructureLimits {
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number
  /** The most arrays, objects and texts. At least twice the others together: fewer are not counted. */
  readonly maxValues: number
  /**
   * The most combinations of names. A member makes one from its name and the names before it in its object.
   * The parser makes a string for each new name, and a hidden class for most new combinations. The rows of a
   * table have the same few. The count may be a few percent low.
   */
  readonly maxCombinations: number
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
/** `[` and `{`, `]` and `}` differ in one bit. */
const [OPEN, CLOSE, BRACE_BIT] = [0x5b, 0x5d, 0x20]
/** A member in an object has at least `"":0,`. */
const MIN_MEMBER_BYTES = 5
/** The prime of FNV-1a with 32 bits. */
const PRIME = 0x01000193
/** The golden ratio with 32 bits: it spreads hashes over a table. */
const SPREAD = 0x9e3779b1
/** A table of combinations has room for this many times the most, so that few share a place. */
const ROOM = 32

/** Creates a function that returns the problem of a body. Only valid JSON has a useful answer. */
export function createStructureCheck (limits: StructureLimits): (json: Buffer) => string | undefined {
  const { maxDepth, maxValues, maxCombinations } = limits
  // Nobody can choose names with equal hashes.
  const seed = random.bytes(4).readInt32LE()
  /** The hash of the names so far in the open object of each level. */
  const hashes = new Int32Array(maxDepth + 1)
  const tableBits = Math.ceil(Math.log2(ROOM * maxCombinations))

  return (json) => {
    const mayHaveCombinations = json.length > MIN_MEMBER_BYTES * maxCombinations
    const isPlain = !hasMore(json, OPEN, maxDepth / 2) && !hasMore(json, OPEN | BRACE_BIT, maxDepth / 2) &&
      !(mayHaveCombinations && hasMore(json, QUOTE, 2 * maxCombinations))
    if (isPlain) return undefined
    // A set takes 25 ns for each name.
    const table = new Uint8Array(mayHaveCombinations ? 2 ** tableBits : 0)
    let [depth, values, combinations, start, end] = [0, 0, 0, 0, 0]
    for (let at = 0; at < json.length; at++) {
      const byte = json[at] ?? 0
      if (byte === QUOTE) {
        start = ++at
        while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
        end = at
        values++
      } else if (byte === COLON) {
        // The text before it is a name.
        values--
        if (!mayHaveCombinations) continue
        const hash = hashes[depth] = hashOf(json, start, end, hashes[depth] ?? 0)
        const place = Math.imul(hash ^ (hash >>> 15), SPREAD) >>> (32 - tableBits)
        if (table[place] === 0) {
          table[place] = 1
          if (++combinations > maxCombinations) {
            return `the body has more than ${maxCombinations} combinations of names. Send less at a time`
          }
        }
      } else if ((byte & ~BRACE_BIT) === OPEN) {
        if (++depth > maxDepth) return `the body is nested deeper than ${maxDepth} levels`
        hashes[depth] = seed
        values++
      } else if ((byte & ~BRACE_BIT) === CLOSE) depth--
    }
    if (values <= maxValues) return undefined
    return `the body has more than ${maxValues} arrays, objects and texts. Send less at a time`
  }
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
