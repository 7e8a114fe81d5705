// Shows the beginning of a value, and tells whether it is large. Both read only as much of the value as they
// need: a client chooses its size.

import { cut, toWellFormedJson } from '../../base/text.ts'
import { clip } from '../../base/words.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { memberNames } from './member-names.ts'

const MAX_PREVIEW = 80

/**
 * Writes a value as JSON, cut after 80 characters. A value that is not JSON, such as a function or a cycle,
 * is described by its type.
 */
export function preview (value: unknown): string {
  if (value === undefined) return 'nothing'
  try {
    const beginning = isLongerThan(value, LARGE) ? beginningOf(value, { left: MAX_PREVIEW }) : value
    return clip(toWellFormedJson(JSON.stringify(beginning) ?? `a value of type ${typeof value}`), MAX_PREVIEW)
  } catch (error) {
    if (error instanceof TypeError) return `a value of type ${typeof value} that is not JSON`
    throw error
  }
}

/** Names the type of a value, for problems that must not quote it. */
export function typeOf (value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The preview of a smaller value takes no time worth saving. */
const LARGE = 10_000

/** Cuts a value: the JSON of the rest begins as that of the value, for as many characters as `room` has. */
function beginningOf (value: unknown, room: { left: number }): unknown {
  room.left--
  if (typeof value === 'string') return cut(value, MAX_PREVIEW)
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (let i = 0; i < value.length && room.left > 0; i++) items.push(beginningOf(value[i], room))
    return items
  }
  if (!isObject(value)) return value
  const names = memberNames(value).slice(0, room.left)
  return Object.fromEntries(names.map((name) => [name, beginningOf(value[name], room)]))
}

/** Whether the JSON of the value has more than this many characters, counted roughly. */
export function isLongerThan (value: unknown, length: number): boolean {
  let room = length
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && room >= 0) {
    const next = waiting.pop()
    room -= typeof next === 'string' ? next.length + 2 : 2
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) {
      room -= next.length
      if (room >= 0) for (const item of next) waiting.push(item)
      continue
    }
    const names = memberNames(next)
    room -= 4 * names.length
    if (room < 0) break
    for (const name of names) room -= name.length
    if (room < 0) break
    for (const member of Object.values(next)) waiting.push(member)
  }
  return room < 0
}
