// The clocks of two machines differ.

/** By this much, in milliseconds, without a token being refused. */
export const CLOCK_LEEWAY_MS = 30_000
