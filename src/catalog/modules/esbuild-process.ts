// Runs what needs esbuild, which works in a child process.

import { stop, type Message } from 'esbuild'

/** After the child process was killed, esbuild starts another only after `stop`. */
export async function runInEsbuild<T> (run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (isBuildError(error)) throw error
    await stop()
    return await run()
  }
}

/** Whether esbuild has read the text, and refuses it. */
export function isBuildError (error: unknown): error is { readonly errors: readonly Message[] } & Error {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
