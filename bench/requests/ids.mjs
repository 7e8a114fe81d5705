// The ids of requests. The mixed ids of a connection are unique until the connection repeats its requests.

/** Functions by name of the mix. Each makes the id of a request from its place in the connection. */
export const ID_MIXES = {
  /**
   * Of ten ids, six are growing integers, two are UUIDs, one is a short text, and one is not ASCII and has to
   * be escaped in JSON.
   */
  mixed: (place, random) => {
    const form = random(10)
    if (form < 6) return place + 1
    if (form < 8) return uuid(random)
    return form === 8 ? `req-${place}` : `"問"/${place}`
  },
  /** The ids of new clients: integers from 0 to 7. */
  first: (place) => place % 8,
  /** The id of a load generator that sends the same id every time. */
  one: () => 1
}

function uuid (random) {
  const hex = (digits) => Array.from({ length: digits }, () => random(16).toString(16)).join('')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
}
