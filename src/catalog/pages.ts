// A list, serialised once: its pages are bytes before the first request for them arrives.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import type { CacheHints } from '../protocol/primitives.ts'
import { readCursor, toCursor } from './cursor.ts'
import { compareListOrder, type CompiledPrimitive } from './compiled-primitive.ts'
import type { ResultWriter } from './result-json.ts'

export interface Pages {
  /**
   * The result that starts after the cursor, or at the beginning; `undefined` for a string that is no cursor.
   */
  page (cursor: string | undefined): Buffer | undefined
}

export interface PagesOptions {
  /** The member of the result that holds the list, such as `tools`. */
  readonly member: string
  readonly pageSize: number
  readonly cache: CacheHints
  readonly writer: ResultWriter
}

/** @param offered in list order. */
export function createPages (
  offered: readonly CompiledPrimitive[], { member, pageSize, cache, writer }: PagesOptions
): Pages {
  const ready = new Map<number, Buffer>()
  for (let start = 0; start === 0 || start < offered.length; start += pageSize) {
    ready.set(start, serialise(start))
  }

  return {
    page (cursor) {
      if (cursor === undefined) return ready.get(0)
      const last = readCursor(cursor)
      if (last === undefined) return undefined
      const start = firstAfter(offered, last)
      // A cursor of another snapshot may fall between today's pages: nothing is skipped and nothing comes
      // twice.
      return ready.get(start) ?? serialise(start)
    }
  }

  function serialise (start: number): Buffer {
    const entries = offered.slice(start, start + pageSize)
    const last = start + pageSize < offered.length ? entries.at(-1) : undefined
    const next = last === undefined ? '' : `,"nextCursor":${JSON.stringify(toCursor(last))}`
    return Buffer.from(
      writer.writeCacheable(`"${member}":[${entries.map(({ json }) => json).join(',')}]${next}`, cache)
    )
  }
}

function firstAfter (
  offered: readonly CompiledPrimitive[], last: Pick<CompiledPrimitive, 'key' | 'order'>
): number {
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
