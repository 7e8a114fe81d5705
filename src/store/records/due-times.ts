// The times at which replicas must look after something. The interface: each backend has an implementation.

/** Entries that were due. */
export interface TakenEntries {
  /** The one that was due first comes first. */
  readonly entries: readonly string[]
  /** In how many milliseconds the next entry is due, 0 at least. `undefined` if there is no entry. */
  readonly nextInMs: number | undefined
}

/**
 * Entries with a time each, shared by all replicas. The time is that of the store, so the clocks of replicas
 * may differ. An entry is a hint: whoever takes it reads what it names, and may find nothing to do.
 *
 * Every method rejects with a StoreUnavailable if the store cannot be reached in time. The operation was then
 * done completely or not at all.
 */
export interface DueTimes {
  /** Makes the entry due after this time, in milliseconds. Replaces an earlier time of the entry. */
  set (entry: string, inMs: number): Promise<void>
  /** Does nothing if there is no such entry. */
  remove (entry: string): Promise<void>
  /**
   * Takes entries that are due. Each of them is then due again after `holdMs`: no other replica gets it
   * before, and one does if this replica is lost.
   */
  take (limit: number, holdMs: number): Promise<TakenEntries>
}
