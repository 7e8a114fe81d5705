// Cursors. A cursor holds the order and the key of the last entry on a page: it therefore means the same
// place on every replica and after a reload.

import type { CompiledPrimitive } from '../compiled-primitive.ts'

type Place = Pick<CompiledPrimitive, 'key' | 'order'>

const FORM = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) ([^]+)$/

export function toCursor ({ order, key }: Place): string {
  return Buffer.from(`${order} ${key}`).toString('base64url')
}

/** `undefined` for a string that is not a cursor. */
export function readCursor (cursor: string): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.toString('base64url') !== cursor) return undefined
  const [, order, key] = FORM.exec(bytes.toString('utf8')) ?? []
  if (order === undefined || key === undefined) return undefined
  const place = { order: Number(order), key }
  return toCursor(place) === cursor ? place : undefined
}
