// The time of a line in UTC, as `toISOString` writes it. All but the milliseconds is made once each second:
// that takes 0.4 µs less, 0.8 % of a call (400,000 lines in a loop, Node 20 and 24).

const SECOND = 1000

/** @returns a function of milliseconds since 1970. */
export function createTimeStamp (): (now: number) => string {
  let second = -1
  let head = ''
  return (now) => {
    const inSecond = now % SECOND
    if (now - inSecond !== second) {
      second = now - inSecond
      head = new Date(second).toISOString().slice(0, -'000Z'.length)
    }
    return `${head}${String(inSecond).padStart(3, '0')}Z`
  }
}
