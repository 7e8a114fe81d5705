// The time that decides what has expired.

export interface Clock {
  /** Milliseconds since the epoch. The clock of the system by default. */
  readonly now?: () => number
}
