// A monotonic time that all processes of this machine share. `performance.now()` differs in each process.

/** Milliseconds since an arbitrary moment. */
export function sharedNow () {
  return Number(process.hrtime.bigint()) / 1e6
}
