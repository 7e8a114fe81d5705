// The ids of requests. No two of one connection's are alike until its requests begin anew.

/** By name, how the requests of a connection are numbered, from their place in it. */
export const ID_MIXES = {
  /**
   * Of ten, six are integers that grow, two are UUIDs, one is short, and one has to be escaped in JSON or is
   * not ASCII.
   */
  mixed: (place, random) => {
    const form = random(10)
    if (form < 6) return place + 1
    if (form < 8) return uuid(random)
    return form === 8 ? `req-${place}` : `"問"/${place}`
  },
  /** As of clients that have just come: integers from 0 to 7. */
  first: (place) => place % 8,
  /** As of a load generator that repeats itself. */
  one: () => 1
}

function uuid (random) {
  const hex = (digits) => Array.from({ length: digits }, () => random(16).toString(16)).join('')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
}
