// The opaque name of a place in a list: the entry that came last. It means the same on every replica and
// after a reload.

import type { CompiledPrimitive } from './compiled-primitive.ts'

type Place = Pick<CompiledPrimitive, 'key' | 'order'>

const FORM = /^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) ([^]+)$/

export function toCursor ({ order, key }: Place): string {
  return Buffer.from(`${order} ${key}`).toString('base64url')
}

/** `undefined` for any string that `toCursor` did not make. */
export function readCursor (cursor: string): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.toString('base64url') !== cursor) return undefined
  const [, order, key] = FORM.exec(bytes.toString('utf8')) ?? []
  if (order === undefined || key === undefined) return undefined
  const place = { order: Number(order), key }
  return toCursor(place) === cursor ? place : undefined
}
