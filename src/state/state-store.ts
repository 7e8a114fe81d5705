// What keeps the records behind handles. It knows bytes, owners and lifetimes; what they mean is the business
// of handles.

/** Names one record. An owner's records are a world of their own: nobody reaches them under another owner. */
export interface StateKey {
  /** Who the record belongs to: short, opaque, of letters, digits, `-` and `_`. */
  readonly owner: string
  /** Unique among the owner's records: letters, digits, `-`, `_`, `.` and `:`. */
  readonly name: string
}

/** How long a record is kept. */
export interface RecordLifetime {
  /**
   * How long after its last use at least, in milliseconds. A store may keep it a hundredth longer, a minute
   * at most.
   */
  readonly idleMs: number
  /** When it ends however much it is used, in milliseconds since the epoch. */
  readonly endsAt?: number
}

/**
 * What a record says. It never changes: not by who gives it to a store, and not by who gets it from there.
 */
export interface StateValue {
  /** May be made when it is asked for: a store that has no use for them need not ask. */
  readonly bytes: Buffer
}

export interface StateRecord {
  readonly value: StateValue
  /** Another one after each replacement. Means something only to the store that gave it. */
  readonly version: string
  /** When it ends unless it is used again, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Every method rejects with a StoreUnavailable where the store cannot be reached in time: then nothing was
 * written, or all of it, and never a part. What was acknowledged is kept: it survives whatever the store's
 * medium survives.
 */
export interface StateStore {
  /**
   * Makes a record, unless the owner already has one of this name (`taken`) or `limit` live ones (`full`).
   * The limit may be overstepped only by what has expired.
   */
  create (
    key: StateKey, value: StateValue, lifetime: RecordLifetime, limit: number
  ): Promise<StateRecord | 'taken' | 'full'>
  /** A use: the record's idle lifetime begins anew. `undefined` where there is none, or no more. */
  read (key: StateKey): Promise<StateRecord | undefined>
  /**
   * Puts another value in place of the one with this version; a use. `undefined` where that version is not
   * there any more.
   */
  replace (key: StateKey, version: string, value: StateValue): Promise<StateRecord | undefined>
  /** Whether there was one. */
  delete (key: StateKey): Promise<boolean>
  /** The names of an owner's live records, and when each ends unless it is used again. Not a use. */
  list (owner: string): Promise<ReadonlyMap<string, number>>
  /** Rejects with a StoreUnavailable unless the store answers now. */
  check (): Promise<void>
  /** Waits for what is under way, then gives everything back. Idempotent. Afterwards every method rejects. */
  close (): Promise<void>
}

/** The store cannot be reached, or is too slow to be of use. The cause is for the log. */
export class StoreUnavailable extends Error {
  constructor (cause: unknown) {
    super('the state store is not available', { cause })
    this.name = 'StoreUnavailable'
  }
}
