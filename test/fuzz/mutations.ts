// Changes of good requests: of their JSON, of its text, and of their headers.

import { damage } from './drafts.ts'
import type { Json, Random } from './random.ts'

type Header = readonly [name: string, value: string]

type Path = ReadonlyArray<string | number>

/** Picks a value within the value: its path from the root. */
function pickPath (root: Json, random: Random): Path {
  const path: string[] = []
  let value = root
  while (typeof value === 'object' && value !== null && random.chance(0.8)) {
    const entries: Array<[string, Json]> = Object.entries(value)
    if (entries.length === 0) break
    const [key, member] = random.pick(entries)
    path.push(key)
    value = member
  }
  return path
}

/** Returns a copy with another value at the place. `undefined` removes it. */
export function withValue (value: Json, [key, ...rest]: Path, next: Json | undefined): Json {
  if (key === undefined) return next ?? null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) => {
      if (String(index) !== String(key)) return [item]
      return rest.length === 0 && next === undefined ? [] : [withValue(item, rest, next)]
    })
    return items
  }
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => {
    if (name !== key) return [[name, member]]
    return rest.length === 0 && next === undefined ? [] : [[name, withValue(member, rest, next)]]
  }))
}

export function mutateJson (value: Json, random: Random): Json {
  const path = pickPath(value, random)
  const change = random.below(8)
  if (change === 0 && path.length > 0) return withValue(value, path, undefined)
  if (change === 1) return withValue(value, path, random.text())
  if (change === 2) return withValue(value, path, random.number())
  if (change === 3) return withValue(value, [...path], [random.json(1)])
  if (change === 4) return withValue(value, path, deep(random))
  if (change === 5) return withValue(value, path, 'x'.repeat(random.pick([300, 5000, 5000, 5000, 70_000])))
  if (change === 6) return addMember(value, path, random)
  return withValue(value, path, random.json())
}

function deep (random: Random): Json {
  let value: Json = 1
  for (let depth = random.pick([20, 120, 200]); depth > 0; depth--) {
    value = random.chance(0.5) ? [value] : { a: value }
  }
  return value
}

function addMember (value: Json, path: Path, random: Random): Json {
  const [key, more] = [random.key(), random.json(1)]
  let at: Json | undefined = value
  for (const step of path) {
    at = typeof at === 'object' && at !== null ? (at as { readonly [name: string]: Json })[step] : undefined
  }
  if (typeof at !== 'object' || at === null) return value
  return withValue(value, path, Array.isArray(at) ? [...at, more] : { ...at, [key]: more })
}

/** Changes the text of a JSON value, which is then mostly none. */
export function mutateText (json: string, random: Random): string | Buffer {
  const at = random.below(json.length + 1)
  const changes = [
    () => json.slice(0, at),
    () => json.slice(0, at) + random.text() + json.slice(at),
    () => damage(json, random),
    () => `\ufeff${json}`,
    () => json.replace('{', '{"__proto__":{"polluted":1},'),
    () => json.replace('{', '{"constructor":{"prototype":{"polluted":1}},'),
    () => json.replace(/"method":"[^"]*"/, (match) => `${match},${match.replace('m', '\\u006d')}`),
    () => `[${json},${json}]`,
    () => '['.repeat(random.pick([100, 10_000])),
    () => json + json,
    () => '',
    () => Buffer.concat(
      [Buffer.from(json.slice(0, at)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(json.slice(at))]
    )
  ]
  return random.pick(changes)()
}

const NAMES = [
  'Accept', 'Content-Type', 'Content-Encoding', 'Origin', 'Host', 'Authorization', 'Mcp-Session-Id',
  'Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Param-Region', 'Mcp-Param-Size', 'Last-Event-ID',
  'Idempotency-Key', 'X-Forwarded-For', 'Forwarded', 'Traceparent', 'Cookie', 'Range', 'If-None-Match',
  'If-Range', 'Connection', 'Expect', 'Upgrade', 'X-Request-Id', 'Content-Language', 'Accept-Encoding',
  'Te', 'Max-Forwards'
]
const VALUES = [
  '', '*/*', 'application/json', 'text/event-stream', 'application/json;q=0', 'text/plain', 'gzip', 'null',
  'https://evil.example', 'evil.example', 'Bearer', 'Bearer x', 'Bearer a b', 'Basic YTpi', '2026-07-28',
  '2025-11-25', '1900-01-01', 'tools/list', 'echo', '=?base64?w6k=?=', '=?base64?!?=', '127.0.0.1', '::1',
  '1.2.3.4, 5.6.7.8', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'bytes=0-1', 'bytes=5-',
  'bytes=-3', 'bytes=9-1,2-3', 'bytes=99999999999999999999-', '*', '"x"', 'close', 'keep-alive', 'upgrade',
  '100-continue', 'h2c', '0', '-1'
]

/** A value that a header may carry. In one of fifty it has what no header may have. */
function headerValue (random: Random): string {
  if (random.chance(0.6)) return random.pick(VALUES)
  const text = random.text().replaceAll(/[\r\n\0]/g, ' ')
  return random.chance(0.02) ? `${text}\u0001` : text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}

export function mutateHeaders (headers: readonly Header[], random: Random): Header[] {
  const at = random.below(Math.max(1, headers.length))
  const [name = random.pick(NAMES), value = ''] = headers[at] ?? []
  const rest = headers.filter((_, index) => index !== at)
  const change = random.below(6)
  if (change === 0) return rest
  if (change === 1) return [...rest, [name, headerValue(random)]]
  if (change === 2) return [...headers, [name, random.chance(0.5) ? value : headerValue(random)]]
  if (change === 3) return [...rest, [name, damage(value, random)]]
  if (change === 4) return [...rest, [random.chance(0.5) ? name.toUpperCase() : name.toLowerCase(), value]]
  return [...headers, [random.pick(NAMES), headerValue(random)]]
}
