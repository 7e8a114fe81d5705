// Runs what needs esbuild, which works in a child process.

import { createRequire } from 'node:module'
import type { Message } from 'esbuild'

type Esbuild = typeof import('esbuild')

/** An `import` takes 15 ms more: Node looks for the names of exports in a text of CommonJS. */
const esbuild: Esbuild = createRequire(import.meta.url)('esbuild')

/** After the child process was killed, esbuild starts another only after `stop`. */
export async function runInEsbuild<T> (run: (esbuild: Esbuild) => Promise<T>): Promise<T> {
  try {
    return await run(esbuild)
  } catch (error) {
    if (isBuildError(error)) throw error
    await esbuild.stop()
    return await run(esbuild)
  }
}

/** Whether esbuild has read the text, and refuses it. */
export function isBuildError (error: unknown): error is { readonly errors: readonly Message[] } & Error {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
