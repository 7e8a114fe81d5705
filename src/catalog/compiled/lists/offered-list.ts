// One list of the catalog, for all callers: the pages for each set of granted scopes.

import { LRUCache } from 'lru-cache'
import { visitAll, type Stepwise } from '../../../base/turns.ts'
import type { CacheScope } from '../../../platform/protocol/primitives.ts'
import type { CompiledPrimitive } from '../compiled-primitive.ts'
import type { ResultWriter } from '../results/result-json.ts'
import { maySee, toScopesKey, toWaysKey, waysToSee, type IsGranted } from '../scopes/access-rule.ts'
import { createPages, toEntryBytes, type Pages } from './pages.ts'

export interface ListOptions {
  readonly writer: ResultWriter
  readonly pageSize: number
  readonly listTtlMs: number
  readonly openCacheScope: CacheScope
}

/**
 * Pages are bytes in memory. Above this number of scope sets the pages of the least recently used set are
 * dropped, and made again if needed.
 */
const MAX_SCOPE_SETS = 64

export type OfferedList = (isGranted: IsGranted) => Pages

/** When resources are listed again, the next snapshot has the other lists of the one before. */
const listsByWriter = new WeakMap<ResultWriter, WeakMap<readonly CompiledPrimitive[], OfferedList>>()

/** Returns the same for the same writer and entries. A reload of the catalog makes new ones. */
export function * openOfferedList (
  member: string, offered: readonly CompiledPrimitive[], options: ListOptions
): Stepwise<OfferedList> {
  const lists = listsByWriter.get(options.writer) ?? new WeakMap<readonly CompiledPrimitive[], OfferedList>()
  listsByWriter.set(options.writer, lists)
  const list = lists.get(offered) ?? (yield * createOfferedList(member, offered, options))
  lists.set(offered, list)
  return list
}

/**
 * Makes the pages of a list for a caller. Callers whose scopes differ only in others than the list's share
 * them.
 * @param member the member of the result that holds the list, such as `tools`.
 * @param offered in list order.
 */
function * createOfferedList (
  member: string, offered: readonly CompiledPrimitive[],
  { writer, pageSize, listTtlMs, openCacheScope }: ListOptions
): Stepwise<OfferedList> {
  // Most entries need the same scopes as others: whether a caller sees them is found once for all.
  const keys: string[] = []
  const examples = new Map<string | undefined, CompiledPrimitive>()
  yield * visitAll(offered, (entry) => {
    const key = toWaysKey(entry)
    keys.push(key)
    examples.set(key, entry)
  })
  const deciding = [...new Set([...examples.values()].flatMap((entry) => waysToSee(entry).flat()))]
  // `public` only if the list is the same for every caller, and everyone may be a caller.
  const cacheScope: CacheScope = deciding.length === 0 ? openCacheScope : 'private'
  const bytes = new Map<CompiledPrimitive, Buffer>()
  const pagesByScopes = new LRUCache<string, Pages>({ max: MAX_SCOPE_SETS })
  const openPages = pagesFor(() => false)

  function pagesFor (isGranted: IsGranted): Pages {
    const visible = new Set<string | undefined>()
    for (const [key, entry] of examples) if (maySee(entry, isGranted)) visible.add(key)
    return createPages(offered.filter((_, index) => visible.has(keys[index])), {
      member,
      pageSize,
      writer,
      cache: { ttlMs: listTtlMs, cacheScope },
      ...(deciding.length > 0 && { bytesOf })
    })
  }

  /** Shares the bytes of entries: the pages of different scope sets have most of them in common. */
  function bytesOf (entry: CompiledPrimitive): Buffer {
    const buffer = bytes.get(entry) ?? toEntryBytes(entry)
    bytes.set(entry, buffer)
    return buffer
  }

  return (isGranted) => {
    const key = toScopesKey(deciding.filter(isGranted))
    if (key === '') return openPages
    const pages = pagesByScopes.get(key) ?? pagesFor(isGranted)
    pagesByScopes.set(key, pages)
    return pages
  }
}
