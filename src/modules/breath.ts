// Loading many files must not keep requests waiting.

/** How long requests wait for a load at most before some are served in between, in milliseconds. */
const BREATH_MS = 10
let lastBreath = 0

/** Small files are read fastest one after the other, without a turn of the event loop for each. */
export async function breathe (): Promise<void> {
  if (performance.now() - lastBreath < BREATH_MS) return
  await new Promise(setImmediate)
  lastBreath = performance.now()
}
