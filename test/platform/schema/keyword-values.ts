// The largest values that a client can send, each of which gives other keywords much work.

import { SETTINGS } from '../../../src/ops/config/settings.ts'

/** The arguments of a call have no limit of their own. */
export const BYTES = SETTINGS.maxBodyBytes.fallback

export const repeat = <T>(length: number, value: T): T[] => Array.from({ length }, () => value)

/** Repeats an item until the JSON of the list is as large as a body. */
function fill (item: unknown, ...last: unknown[]): unknown[] {
  return [...repeat(Math.floor(BYTES / (JSON.stringify(item).length + 1)) - 1, item), ...last]
}

/** Members come as JSON.parse makes them: an object that is built in another way is enumerated faster. */
function members (prefix: string, member: unknown): object {
  const length = Math.floor(BYTES / (9 + prefix.length))
  const names = Array.from({ length }, (_, i) => `"${prefix}${i}":${JSON.stringify(member)}`)
  return JSON.parse(`{${names.join(',')}}`)
}

const nested = (depth: number): unknown => depth === 0 ? 0 : { a: nested(depth - 1), b: [0] }

export const VALUES = {
  list: {
    'equal numbers': fill(0),
    'equal numbers, then a text': fill(0, 'x'),
    'other numbers': Array.from({ length: BYTES / 7 }, (_, i) => i),
    'empty texts': fill(''),
    'long texts': fill('x'.repeat(1000)),
    'empty objects': fill({}),
    'small objects': fill({ a0: 0, b: 'x' }),
    'empty lists': fill([]),
    'small lists': fill([0, 1, 'x'])
  },
  object: {
    members: members('a', 0),
    'members with numbers as names': members('', 'x'),
    'members, then another': { ...members('a', 0), z: 'x' },
    'a large name': { ['/~'.repeat(BYTES / 2)]: 0 },
    'a large text': { a0: 'x'.repeat(BYTES) },
    'a large list': { a0: fill({ a0: 0 }) }
  },
  text: {
    ascii: 'a'.repeat(BYTES),
    'two bytes': 'é'.repeat(BYTES / 2),
    'surrogate pairs': '😀'.repeat(BYTES / 4)
  },
  tree: {
    'nested objects': nested(100),
    'many nested objects': fill(nested(20))
  }
}

/** Those that meet the work of a keyword in any place. */
export const WORST_VALUES = {
  list: [VALUES.list['equal numbers, then a text'], VALUES.list['empty texts'], VALUES.list['small objects']],
  object: [VALUES.object.members, VALUES.object['members, then another']],
  text: [VALUES.text['two bytes']],
  tree: Object.values(VALUES.tree)
}
