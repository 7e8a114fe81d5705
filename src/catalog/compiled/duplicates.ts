// Names and URIs that are used twice.

import type { Located } from './contents.ts'
import { createReporter, type Problem } from './problem.ts'

/** What a definition was compiled to. */
export interface Compiled<C, D = unknown> { readonly compiled: C, readonly located: Located<D> }

/** Each problem names the file that had the key first. */
export function findDuplicates (
  kind: string, all: ReadonlyArray<Compiled<{ readonly key: string }, unknown>>
): Problem[] {
  const problems: Problem[] = []
  const fileByKey = new Map<string, string>()
  for (const { compiled: { key }, located } of all) {
    const file = fileByKey.get(key)
    if (file === undefined) fileByKey.set(key, located.file)
    else {
      const rule = `the ${kind} ${JSON.stringify(key)} is already defined in ${file}`
      createReporter(problems, located)('', rule)
    }
  }
  return problems
}
