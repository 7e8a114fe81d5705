// The pages of a list. Each is serialised once, for the first request for it: a load of a large catalog would
// otherwise block requests while it serialises pages that nobody may ask for.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import { hash } from 'node:crypto'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import { compareListOrder, type CompiledPrimitive, type ListPosition } from '../compiled-primitive.ts'
import type { ResultWriter } from '../results/result-json.ts'

export interface Pages {
  /** Returns the page after the cursor, or the first page. `undefined` for a string that is no cursor. */
  page (cursor: string | undefined): Buffer | undefined
}

export interface PagesOptions {
  /** The member of the result that holds the list, such as `tools`. */
  readonly member: string
  /** Names the list in its cursors. The member by default. */
  readonly list?: string
  readonly pageSize: number
  /** `undefined`: the result says nothing of caches. */
  readonly cache?: CacheHints | undefined
  readonly writer: ResultWriter
  /** `toEntryBytes` by default. */
  readonly bytesOf?: (entry: CompiledPrimitive) => Buffer
}

/** Writes the entry as a page has it, after a comma. */
export function toEntryBytes ({ json }: CompiledPrimitive): Buffer {
  return Buffer.from(`,${json}`)
}

/** @param offered in list order. */
export function createPages (
  offered: readonly CompiledPrimitive[],
  { member, list = member, pageSize, cache, writer, bytesOf = toEntryBytes }: PagesOptions
): Pages {
  const pageByStart = new Map<number, Buffer>()

  return {
    page (cursor) {
      if (cursor === undefined) return pageAt(0)
      const last = readCursor(cursor, list)
      if (last === undefined) return undefined
      return pageAt(firstAfter(offered, last))
    }
  }

  function pageAt (start: number): Buffer {
    const page = pageByStart.get(start) ?? serialise(start)
    // A cursor of another snapshot may point into the middle of a page. Its page is made each time, so that
    // no entry is skipped and no entry comes twice.
    if (start % pageSize === 0) pageByStart.set(start, page)
    return page
  }

  function serialise (start: number): Buffer {
    const entries = offered.slice(start, start + pageSize)
    const last = start + pageSize < offered.length ? entries.at(-1) : undefined
    const next = last === undefined ? '' : `,"nextCursor":${JSON.stringify(toCursor(last, list))}`
    const members = `"${member}":[]${next}`
    const frame = cache === undefined ? writer.write(members) : writer.writeCacheable(members, cache)
    const middle = frame.indexOf('[]') + 1
    return Buffer.concat([
      Buffer.from(frame.slice(0, middle)),
      ...entries.map((entry, index) => index === 0 ? bytesOf(entry).subarray(1) : bytesOf(entry)),
      Buffer.from(frame.slice(middle))
    ])
  }
}

function firstAfter (offered: readonly CompiledPrimitive[], last: ListPosition): number {
  let low = 0
  let high = offered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = offered[middle]
    if (entry !== undefined && compareListOrder(entry, last) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

const FORM = /^[\w-]{8} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) ([^]+)$/

/**
 * A cursor has its position, so that every replica reads it, and also a later snapshot. Its checksum tells it
 * from cursors of other lists and from strings that no list has issued. It is no secret: a position gives no
 * access.
 */
export function toCursor ({ order, key }: ListPosition, list: string): string {
  const checksum = hash('sha256', JSON.stringify([list, order, key]), 'base64url').slice(0, 8)
  return Buffer.from(`${checksum} ${order} ${key}`).toString('base64url')
}

/** Returns `undefined` for a string that is not a cursor of the list. */
export function readCursor (cursor: string, list: string): ListPosition | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.toString('base64url') !== cursor) return undefined
  const [, order, key] = FORM.exec(bytes.toString('utf8')) ?? []
  if (order === undefined || key === undefined) return undefined
  const place = { order: Number(order), key }
  return toCursor(place, list) === cursor ? place : undefined
}
