// Reads how large the old generation of the heap may be. V8 reports only its sum with the young one.

const BYTES_PER_MIB = 1_048_576

/**
 * Returns bytes, or undefined where the options do not say it.
 * @param options those of NODE_OPTIONS first, then those of the command line: the last one counts.
 */
export function readHeapOption (options: string): number | undefined {
  const [, mebibytes] = [...options.matchAll(/--max[-_]old[-_]space[-_]size=(\d+)/g)].at(-1) ?? []
  return mebibytes === undefined ? undefined : Number(mebibytes) * BYTES_PER_MIB
}
