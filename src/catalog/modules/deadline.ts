// The deadline for loading a module.

import { withinDeadline } from '../../base/deadline.ts'

export function lateError (deadlineMs: number): Error {
  const problem = `is not loaded within ${deadlineMs / 1000} s`
  return new Error(`${problem}; a top-level await may wait for something that never comes`)
}

/** Rejects when the module is not loaded within the deadline. Its work is not cancelled. */
export async function loadInTime<T> (loading: Promise<T>, deadlineMs: number): Promise<T> {
  return await withinDeadline(loading, deadlineMs, () => lateError(deadlineMs))
}
