// Requests for mcp-time, a program on the Go library mcp-go. It serves its own five tools. The smallest of
// them that uses its arguments adds a duration to a time.

const DAY_MS = 86_400_000
/** The times are in the years 2000 to 2027. */
const FIRST_MS = Date.UTC(2000)
const DAYS = 10_000

/** Functions by method. Each makes the params of a request from pseudo-random numbers. */
export const MCP_TIME_PARAMS = {
  'tools/call': (random) => {
    const time = new Date(FIRST_MS + random(DAYS) * DAY_MS + random(DAY_MS)).toISOString()
    return { name: 'add_time', arguments: { time, duration: `${random(100)}h${random(60)}m` } }
  }
}
