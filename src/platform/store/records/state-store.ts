// The store of the records behind handles. It handles bytes, owners and lifetimes, and does not interpret the
// bytes.

/** Identifies one record. Different owners may use the same name for different records. */
export interface StateKey {
  /** The owner of the record: short, opaque, of letters, digits, `-` and `_`. */
  readonly owner: string
  /** Unique among the owner's records: letters, digits, `-`, `_`, `.` and `:`. */
  readonly name: string
}

/** How long a record is kept. */
export interface RecordLifetime {
  /**
   * The record is kept at least this long after its last use, in milliseconds. A store may keep it longer by
   * a hundredth, at most by a minute.
   */
  readonly idleMs: number
  /** The record expires at this time even if it is used, in milliseconds since the epoch. */
  readonly endsAt?: number
}

/** The value of a record. It is immutable: neither the writer nor a reader may change it. */
export interface StateValue {
  /** May be created on the first access. A store that does not need the bytes does not access them. */
  readonly bytes: Buffer
}

export interface StateRecord {
  readonly value: StateValue
  /** Changes at each replacement. Only the store that created it can interpret it. */
  readonly version: string
  /** The time of expiry if the record is not used again, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Every method rejects with a StoreUnavailable if the store cannot be reached in time. The operation was then
 * done completely or not at all. An acknowledged write is as durable as the store's medium, and so is the
 * earlier write that `taken`, `undefined` of `replace` or `false` of `confirm` or `delete` tells of.
 */
export interface StateStore {
  /**
   * Creates a record, unless the owner already has a record of this name (`taken`) or `limit` live records
   * (`full`). Expired records do not count.
   */
  create (
    key: StateKey, value: StateValue, lifetime: RecordLifetime, limit: number
  ): Promise<StateRecord | 'taken' | 'full'>
  /**
   * A use: it restarts the record's idle lifetime. `undefined` if the record does not exist or has expired.
   */
  read (key: StateKey): Promise<StateRecord | undefined>
  /** Reads the record without using it: its idle lifetime goes on. */
  peek (key: StateKey): Promise<StateRecord | undefined>
  /**
   * Replaces the value if the record still has this version. A use. `undefined` if the record has another
   * version, does not exist or has expired.
   *
   * @param lifetime begins now, in place of the lifetime of the record. It may be shorter.
   */
  replace (
    key: StateKey, version: string, value: StateValue, lifetime?: RecordLifetime
  ): Promise<StateRecord | undefined>
  /**
   * Resolves to whether the record has this version, when that is as durable as an acknowledged write: a
   * reader may see a version before it is. Not a use.
   */
  confirm (key: StateKey, version: string): Promise<boolean>
  /** Resolves to whether there was a live record. */
  delete (key: StateKey): Promise<boolean>
  /** The names of an owner's live records, each with its expiry. Not a use. */
  list (owner: string): Promise<ReadonlyMap<string, number>>
  /** Writes. Rejects with a StoreUnavailable if the store takes no writes now. */
  check (): Promise<void>
  /** Waits for the calls in progress, then releases all resources. Idempotent. Later calls reject. */
  close (): Promise<void>
}

/** The store cannot be reached, or did not answer in time. The cause is for the log. */
export class StoreUnavailable extends Error {
  constructor (cause: unknown) {
    super('the state store is not available', { cause })
    this.name = 'StoreUnavailable'
  }
}
