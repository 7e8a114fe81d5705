// Every limit of what holders may have at once: one row each. A limit divides into shares, so that no holder
// can take it whole, and words its refusals.

import { getHeapStatistics } from 'node:v8'
import { overloaded, LimitReached, type ProtocolError } from '../protocol/errors.ts'
import type { HolderKind } from './holder.ts'

interface LimitRow {
  /** The counted things, in the plural, as a refusal names them. */
  readonly things: string
  /** Whose things the limit counts together: those of a replica, of the service, or of each principal. */
  readonly per: 'replica' | 'service' | 'principal'
  /** The number that a limit has which no setting sets. */
  readonly max?: number
  /** What a holder can do about a refusal of its share, if it can do more than wait. */
  readonly advice?: string
  /** 429 is a limit of the caller's own, 503 one of the service. They are the HTTP status too. */
  readonly code: 429 | 503
}

export const LIMITS = {
  authentications: { things: 'requests that wait for authentication', per: 'replica', max: 2000, code: 503 },
  streams: { things: 'open streams', per: 'replica', advice: 'Close one.', code: 503 },
  waitingBytes: {
    things: 'bytes of large answers',
    per: 'replica',
    max: 268_435_456,
    advice: 'Read the answers.',
    code: 503
  },
  arrivingBytes: {
    things: 'bytes of arriving bodies',
    per: 'replica',
    max: 67_108_864,
    advice: 'Send one at a time.',
    code: 503
  },
  arrivingHeaders: {
    things: 'bytes of headers that have not come whole',
    per: 'replica',
    max: 33_554_432,
    advice: 'Send the rest.',
    code: 503
  },
  questions: {
    things: 'questions that wait for an answer', per: 'replica', max: 4000, advice: 'Answer one.', code: 503
  },
  // No end is dropped before the session would have expired. Beyond the limit no session can be ended.
  endedSessions: { things: 'ended sessions', per: 'service', max: 200_000, code: 503 },
  sessionSettings: {
    things: 'sessions', per: 'principal', advice: 'End some, or try again later.', code: 503
  },
  tasks: { things: 'unfinished tasks', per: 'principal', advice: 'Wait for one, or cancel it.', code: 429 },
  keptTasks: {
    things: 'tasks and results of tasks',
    per: 'principal',
    advice: 'They count until they expire.',
    code: 429
  },
  followedTasks: {
    things: 'tasks that streams follow', per: 'replica', max: 20_000, advice: 'Close a stream.', code: 503
  },
  taskRuns: {
    things: 'running tasks', per: 'replica', max: 1000, advice: 'Wait until one has ended.', code: 503
  },
  upstreamCalls: { things: 'running calls of one upstream', per: 'replica', code: 503 },
  handles: { things: 'handles', per: 'principal', advice: 'Use or delete one that exists.', code: 429 },
  // Beyond it the oldest remainder gives way.
  remainderBytes: { things: 'bytes of remainders', per: 'replica', max: 268_435_456, code: 503 },
  signInRequests: { things: 'requests of clients that sign in', per: 'replica', max: 2000, code: 503 },
  signIns: { things: 'unfinished sign-ins', per: 'service', max: 50_000, code: 503 },
  firstAnswers: { things: 'kept answers', per: 'principal', max: 1000, code: 429 },
  files: {
    things: 'files', per: 'principal', max: 10_000, advice: 'Room comes back when files expire.', code: 429
  },
  fileBytes: {
    things: 'bytes of files', per: 'principal', advice: 'Room comes back when files expire.', code: 429
  },
  partBytes: {
    things: 'bytes of parts of files',
    per: 'replica',
    max: 268_435_456,
    advice: 'Send one file at a time.',
    code: 503
  },
  // Beyond it the least recently used file is read again.
  unchangedFileBytes: { things: 'bytes of files', per: 'replica', max: 33_554_432, code: 503 },
  loggedBytes: { things: 'bytes of kept events', per: 'replica', max: 67_108_864, code: 503 }
} satisfies { readonly [name: string]: LimitRow }

export type LimitName = keyof typeof LIMITS

/** The limits of a replica that no setting sets. */
type FixedLimitName = {
  [K in LimitName]: typeof LIMITS[K] extends { per: 'replica', max: number } ? K : never
}[LimitName]

/** Returns the part of a replica's limit that each of its workers has, rounded up. */
export function divide (limit: number, workerCount: number): number {
  return Math.ceil(limit / workerCount)
}

/** Divides a limit that no setting sets. */
export function partOf (name: FixedLimitName, workerCount: number): number {
  return divide(LIMITS[name].max, workerCount)
}

/** Returns a limit of texts that are in the heap: a part of the heap at most. */
export function withinHeap (bytes: number, divisor: number): number {
  return Math.min(bytes, Math.floor(getHeapStatistics().heap_size_limit / divisor))
}

/** A network gets a tenth: one attacker has several. A principal gets a half: it may be a gateway. */
const DIVISORS: { readonly [K in HolderKind]: number } = { all: 1, principal: 2, network: 10 }

const WHOSE: { readonly [K in HolderKind]: string } = {
  all: '', principal: ' of yours', network: ' of your address'
}
const PLACES: { readonly [K in LimitRow['per']]: string } = {
  replica: ' on this replica', service: ' in this service', principal: ''
}

const LATER = 'Try again later.'

interface ShareOptions {
  /** The share of a principal. By default all of a limit per principal, or a half. */
  readonly perPrincipal?: number
  /** What each share is at least. */
  readonly leastShare?: number
}

/** One limit, with the number that is in force. */
export class Limit {
  readonly #row: LimitRow
  readonly #perPrincipal: number | undefined
  readonly #leastShare: number
  /** The most that all holders together may have, or each principal where the limit is per principal. */
  readonly max: number

  constructor (name: LimitName, max?: number, { perPrincipal, leastShare = 0 }: ShareOptions = {}) {
    this.#row = LIMITS[name]
    this.#perPrincipal = perPrincipal
    this.#leastShare = leastShare
    this.max = max ?? this.#row.max ?? Infinity
  }

  /**
   * Returns the part of the limit that one holder may have, rounded up. All holders together have no limit
   * where each principal has its own.
   */
  shareOf (kind: HolderKind): number {
    if (this.#row.per === 'principal' && kind !== 'network') return kind === 'all' ? Infinity : this.max
    if (kind === 'principal' && this.#perPrincipal !== undefined) return this.#perPrincipal
    return Math.max(Math.ceil(this.max / DIVISORS[kind]), this.#leastShare)
  }

  /** Words a refusal: `Too many open streams on this replica (10000). Try again later.` */
  describe (kind: HolderKind): string {
    const { things: noun, per, advice = LATER } = this.#row
    const remedy = kind === 'all' ? LATER : advice
    return `Too many ${noun}${WHOSE[kind]}${PLACES[per]} (${this.shareOf(kind)}). ${remedy}`
  }

  /**
   * Returns the error for a holder whose share is used, or for everybody.
   *
   * @param network the network whose share is used. Only the log gets it.
   */
  refusal (kind: HolderKind, network?: string): ProtocolError {
    const { code } = this.#row
    const cause = network === undefined ? undefined : new ShareUsed(network, this.shareOf('network'))
    if (code === 503) return overloaded(this.describe(kind), cause)
    return new LimitReached(this.describe(kind), code, undefined, cause)
  }
}

/** One network has used its share. The log gets it as the cause of an error; clients do not. */
export class ShareUsed extends Error {
  readonly network: string

  constructor (network: string, share: number) {
    super(
      `${network} has reached its share of the limit: ${share}. ` +
      'If this is the address of a proxy, name the proxy in TRIVET_TRUSTED_PROXIES'
    )
    this.name = 'ShareUsed'
    this.network = network
  }
}
