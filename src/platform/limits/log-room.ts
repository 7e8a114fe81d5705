// Which streams an event log has room for. All streams together have a limit of bytes, and those of one
// holder its share of it. Beyond it the streams go whose last event is the oldest.

import type { Holder } from './holder.ts'
import { Limit } from './limits.ts'

interface LogRoomOptions {
  /** How many events of one stream are kept. */
  readonly maxEvents: number
  /** How long a stream is kept after its last event, in milliseconds. */
  readonly ttlMs: number
  readonly maxBytes: number
  readonly now: () => number
}

/** The streams that have gone. */
interface Gone { readonly excess: readonly string[], readonly expired: readonly string[] }

export interface LogRoom {
  /** Counts an event, which is always kept. Streams without a holder count only against the limit. */
  add (stream: string, bytes: number, holder?: Holder): Gone
  has (stream: string): boolean
  /** Returns the streams that have expired since the last call. */
  expire (): readonly string[]
}

interface KeptStream {
  readonly events: number
  /** An estimate, once events of the stream were dropped. */
  readonly bytes: number
  readonly expiresAt: number
  readonly group: Group | undefined
}

/** Streams that count together, ordered by the time of the last event. */
interface Group { readonly name: string, readonly streams: Set<string>, bytes: number }

export function createLogRoom ({ maxEvents, ttlMs, maxBytes, now }: LogRoomOptions): LogRoom {
  const limit = new Limit('loggedBytes', maxBytes)
  const keptStreams = new Map<string, KeptStream>()
  const all: Group = { name: '', streams: new Set(), bytes: 0 }
  const groups = new Map<string, Group>()

  function groupOf ({ name }: Holder): Group {
    const existing = groups.get(name)
    if (existing !== undefined) return existing
    const group = { name, streams: new Set<string>(), bytes: 0 }
    groups.set(name, group)
    return group
  }

  function keep (stream: string, entry: KeptStream): void {
    keptStreams.set(stream, entry)
    for (const group of [all, entry.group]) {
      if (group === undefined) continue
      group.streams.add(stream)
      group.bytes += entry.bytes
    }
  }

  function forget (stream: string): Pick<KeptStream, 'events' | 'bytes'> {
    const entry = keptStreams.get(stream)
    if (entry === undefined) return { events: 0, bytes: 0 }
    keptStreams.delete(stream)
    for (const group of [all, entry.group]) {
      group?.streams.delete(stream)
      if (group !== undefined) group.bytes -= entry.bytes
    }
    if (entry.group?.streams.size === 0) groups.delete(entry.group.name)
    return entry
  }

  /** Forgets the oldest streams of a group until the others are within the limit. */
  function shrink (group: Group, limit: number, newest: string): string[] {
    const names: string[] = []
    for (const stream of group.streams) {
      if (group.bytes <= limit || stream === newest) break
      forget(stream)
      names.push(stream)
    }
    return names
  }

  function expire (): string[] {
    const names: string[] = []
    for (const [stream, { expiresAt }] of keptStreams) {
      if (expiresAt > now()) break
      forget(stream)
      names.push(stream)
    }
    return names
  }

  return {
    add (stream, bytes, holder) {
      const before = forget(stream)
      // A full stream drops an event for each new one: one of its average size.
      const left = before.events < maxEvents ? before.bytes : before.bytes * (maxEvents - 1) / maxEvents
      const group = holder && groupOf(holder)
      keep(stream, {
        events: Math.min(before.events + 1, maxEvents), bytes: left + bytes, expiresAt: now() + ttlMs, group
      })
      const expired = expire()
      const excess = shrink(all, maxBytes, stream)
      if (holder !== undefined && group !== undefined) {
        excess.push(...shrink(group, limit.shareOf(holder.kind), stream))
      }
      return { excess, expired }
    },
    has (stream) { return (keptStreams.get(stream)?.expiresAt ?? -Infinity) > now() },
    expire
  }
}
