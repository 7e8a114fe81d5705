// What a fuzzed request is before it goes over the wire, and what earlier answers have taught its lane.

import type { WireRequest } from './client.ts'
import type { Json, Random } from './random.ts'

export interface KnownSession { readonly token: string, readonly revision: string }

/** A question that a call of a tool has asked, and what its next round must carry. */
export interface OpenRound {
  readonly name: string
  readonly keys: readonly string[]
  readonly state: string | undefined
}

/** A request with what the checks need to know of it. */
export interface Draft extends WireRequest {
  /** For statistics. */
  readonly kind: string
  readonly session?: KnownSession
  /** Whether the answer must be that of a good request. Returns what is wrong with it. */
  readonly judge?: (status: number, body: string) => string | undefined
}

/** The most values of a kind that a lane remembers. */
const MAX_KNOWN = 12

/** Names that answers have carried. Requests use them, so that they reach more than the first check. */
export class Knowledge {
  /** The Authorization header of most requests of the lane: sessions, tasks and links have an owner. */
  readonly authorization: string | undefined
  readonly sessions: KnownSession[] = []
  readonly cursors: string[] = []
  readonly handles: string[] = []
  readonly tasks: string[] = []
  readonly rounds: OpenRound[] = []
  readonly links: string[] = []
  /** The ids of requests of the service, in sessions. */
  readonly questions: string[] = []
  readonly eventIds: string[] = []
  /** The session of the good requests, which no other request ends. */
  probeSession: KnownSession | undefined

  constructor (authorization: string | undefined) {
    this.authorization = authorization
  }

  /** Adds a value. The oldest one goes. */
  static add<T> (values: T[], value: T): void {
    values.push(value)
    if (values.length > MAX_KNOWN) values.shift()
  }

  /** One of the values, or a text that is none. */
  use (random: Random, kind: 'cursors' | 'handles' | 'tasks' | 'links' | 'questions' | 'eventIds'): string {
    const values = this[kind]
    const one = random.below(MAX_KNOWN)
    const isWrong = random.chance(0.1)
    const text = values[one % Math.max(1, values.length)] ?? 'none'
    return isWrong ? damage(text, random) : text
  }
}

/** Changes one character. */
export function damage (text: string, random: Random): string {
  const at = random.below(Math.max(1, text.length))
  return text.slice(0, at) + random.pick(['A', '.', '_', '', '%']) + text.slice(at + 1)
}

/** A message of a client, before its headers are made. */
export interface OrdinaryMessage {
  readonly method: string
  readonly params: { readonly [name: string]: Json }
  /** The client must leave: the answer may be a stream without an end. */
  readonly leaveAfterMs?: number
}
