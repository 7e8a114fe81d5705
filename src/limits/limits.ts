// Every limit of what holders may have at once: one row each. A limit divides into shares, so that no holder
// can take it whole, and words its refusals.

import { overloaded, LimitReached, type ProtocolError } from '../protocol/errors.ts'
import type { Holder, HolderKind } from './holder.ts'
import { ShareUsed } from './share.ts'

interface LimitRow {
  /** The counted things, in the plural, as a refusal names them. */
  readonly things: string
  /** Whose things the limit counts together: those of a replica, of the service, or of each principal. */
  readonly per: 'replica' | 'service' | 'principal'
  /** The number that a limit has which no setting sets. */
  readonly max?: number
  /** What a holder can do about a refusal of its share. */
  readonly advice: string
  /** 429 is a limit of the caller's own, 503 one of the service. They are the HTTP status too. */
  readonly code: 429 | 503
}

export const LIMITS = {
  streams: { things: 'open streams', per: 'replica', advice: 'Close one.', code: 503 },
  waitingBytes: {
    things: 'bytes of answers that wait for slow clients',
    per: 'replica',
    max: 268_435_456,
    advice: 'Read the answers.',
    code: 503
  },
  questions: {
    things: 'questions that wait for an answer', per: 'replica', max: 4000, advice: 'Answer one.', code: 503
  },
  endedSessions: {
    // No end is dropped before the session would have expired. Beyond the limit no session can be ended.
    things: 'ended sessions', per: 'service', max: 200_000, advice: 'Try again later.', code: 503
  },
  sessionSettings: {
    things: 'sessions with settings', per: 'principal', advice: 'End some, or try again later.', code: 503
  },
  tasks: { things: 'unfinished tasks', per: 'principal', advice: 'Wait for one, or cancel it.', code: 429 },
  keptTasks: {
    things: 'tasks, with those that have ended',
    per: 'principal',
    advice: 'They count until they expire.',
    code: 429
  },
  handles: { things: 'handles', per: 'principal', advice: 'Use or delete one that exists.', code: 429 },
  firstAnswers: {
    things: 'kept answers', per: 'principal', max: 1000, advice: 'Try again later.', code: 429
  },
  files: {
    things: 'files', per: 'principal', max: 10_000, advice: 'Room comes back when files expire.', code: 429
  },
  fileBytes: {
    things: 'bytes of files', per: 'principal', advice: 'Room comes back when files expire.', code: 429
  },
  loggedBytes: {
    things: 'bytes of kept events', per: 'replica', max: 67_108_864, advice: 'Try again later.', code: 503
  }
} satisfies { readonly [name: string]: LimitRow }

export type LimitName = keyof typeof LIMITS

/** A network gets a tenth: one attacker has several. A principal gets a half: it may be a gateway. */
const DIVISORS: { readonly [K in HolderKind]: number } = { all: 1, principal: 2, network: 10 }

const WHOSE: { readonly [K in HolderKind]: string } = {
  all: '', principal: ' of yours', network: ' of your address'
}
const PLACES: { readonly [K in LimitRow['per']]: string } = {
  replica: ' on this replica', service: ' in this service', principal: ''
}

/** One limit, with the number that is in force. */
export class Limit {
  readonly #row: LimitRow
  /** The most that all holders together may have, or each principal where the limit is per principal. */
  readonly max: number

  constructor (name: LimitName, max?: number) {
    this.#row = LIMITS[name]
    this.max = max ?? this.#row.max ?? Infinity
  }

  /** Returns the part of the limit that one holder may have, rounded up. */
  shareOf (kind: HolderKind): number {
    const isWhole = kind === 'principal' && this.#row.per === 'principal'
    return isWhole ? this.max : Math.ceil(this.max / DIVISORS[kind])
  }

  /**
   * Words the refusal of a holder whose share is used, or of all holders: `Too many open streams on this
   * replica (10000). Try again later.`
   *
   * @param things replaces the things of the row.
   */
  describe (kind: HolderKind, things: string = this.#row.things): string {
    const { per, advice } = this.#row
    const remedy = kind === 'all' ? 'Try again later.' : advice
    return `Too many ${things}${WHOSE[kind]}${PLACES[per]} (${this.shareOf(kind)}). ${remedy}`
  }

  /** Returns the error for a holder whose share is used. `undefined` stands for all holders together. */
  refusal (holder?: Holder): ProtocolError {
    const { code } = this.#row
    const kind = holder?.kind ?? 'all'
    const cause = holder?.kind === 'network' ? new ShareUsed(holder.name, this.shareOf('network')) : undefined
    if (code === 503) return overloaded(this.describe(kind), cause)
    return new LimitReached(this.describe(kind), code, undefined, cause)
  }
}
