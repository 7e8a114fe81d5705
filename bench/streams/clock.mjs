// A time that all processes of this machine share, unlike `performance.now()`, and that nobody sets.

/** In milliseconds since some moment. */
export function sharedNow () {
  return Number(process.hrtime.bigint()) / 1e6
}
