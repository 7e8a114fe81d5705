// Where a call goes: a path below the URL of the upstream, and nowhere else.

import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import { quote } from '../../base/words.ts'

/** The path and the query as the request line has them. */
export interface CallTarget {
  readonly path: string
  /** Begins with `?`, unless it is empty. */
  readonly query: string
}

/** Servers take a request line of about this length. The checks take time that grows with it. */
const MAX_LENGTH = 8192
/** Letters that mean the same everywhere, and no segment that begins with a dot. Most paths are like that. */
const PLAIN = /^(?!\/|.*(?:^|\/)\.)[\w~@!$&'()*+,=./-]*$/
/** Characters that the URL parser drops or turns into a slash. */
const REFUSED = /[^ -~\x80-\uffff]|\\|^\s|\s$/
const ABSOLUTE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/)/

/** Throws a TypeError for a path that may lead elsewhere, for the upstream too. */
export function readCallTarget (base: URL, path: string, query: UpstreamInit['query']): CallTarget {
  if (typeof path !== 'string') throw new TypeError('fetch: the path must be a text')
  if (path.length > MAX_LENGTH) throw tooLong()
  const search = query === undefined ? '' : toSearch(query)
  if (path.length + search.length > MAX_LENGTH) throw tooLong()
  if (PLAIN.test(path)) return { path: base.pathname + path, query: search === '' ? '' : `?${search}` }
  const [before = ''] = path.split('?')
  if (path.includes('#') || REFUSED.test(path) || ABSOLUTE.test(path) || mayLeave(before)) throw leaves(path)
  const url = new URL(path, base)
  if (!isBelow(url, base)) throw leaves(path)
  const ownQuery = url.search.slice(1)
  const joined = [ownQuery, search].filter((part) => part !== '').join('&')
  return { path: url.pathname, query: joined === '' ? '' : `?${joined}` }
}

/**
 * Reads where a redirect leads. `undefined` if it leaves the upstream.
 * @param from the target that was redirected.
 */
export function readRedirect (base: URL, from: CallTarget, location: string): CallTarget | undefined {
  const here = new URL(from.path + from.query, base)
  if (REFUSED.test(location) || !URL.canParse(location, here.href)) return undefined
  const url = new URL(location, here)
  const [before = ''] = location.split(/[?#]/)
  return isBelow(url, base) && !mayLeave(before) ? { path: url.pathname, query: url.search } : undefined
}

function isBelow ({ origin, username, password, pathname }: URL, base: URL): boolean {
  return origin === base.origin && `${username}${password}` === '' && pathname.startsWith(base.pathname)
}

/** The most that servers decode a path before they use it. */
const MAX_DECODINGS = 3

/**
 * Whether a path has `.` or `..` as a segment, a backslash or a control character, also once it is decoded.
 * Some servers cut off the parameters of a segment first: `..;a`.
 */
function mayLeave (path: string): boolean {
  let text = path
  for (let decoding = 0; decoding <= MAX_DECODINGS; decoding++) {
    if (REFUSED.test(text) || text.split('/').some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment))) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  // No text that means a path is encoded so often.
  return true
}

/** Decodes one time. Leaves what is no encoding as it is. */
function decode (text: string): string {
  return text.replaceAll(/%[0-9A-Fa-f]{2}/g, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)))
}

function tooLong (): TypeError {
  return new TypeError(`fetch: the path and the query must have at most ${MAX_LENGTH} characters together: ` +
    'send what is longer as the body of a POST')
}

function leaves (path: string): TypeError {
  // A query may have what no log may have.
  return new TypeError(`fetch: the path ${quote(path.replace(/\?.*$/s, ''))} must be relative to the URL of the ` +
    'upstream, and below it: without a slash at its beginning, "..", "\\" and "#", encoded or not')
}

const VALUES = new Set(['string', 'number', 'bigint', 'boolean'])

function toSearch (query: NonNullable<UpstreamInit['query']>): string {
  if (query instanceof URLSearchParams) return query.toString()
  if (typeof query !== 'object' || query === null || Symbol.iterator in query) {
    throw new TypeError('fetch: query must be a URLSearchParams, or an object with a value for each name')
  }
  const search = new URLSearchParams()
  let length = 0
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined) continue
      if (!VALUES.has(typeof item)) {
        throw new TypeError(`fetch: ${quote(name)} in query must be a text, a number or a boolean`)
      }
      const text = String(item)
      length += name.length + text.length
      if (length > MAX_LENGTH) throw tooLong()
      search.append(name, text)
    }
  }
  return search.toString()
}
