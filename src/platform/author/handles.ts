// Handles, as a tool uses them: state that outlives a request.

import { ToolError } from './tool-error.ts'

/** A handle that `create` has just made. */
export interface NewHandle<T> {
  /** Opaque. Return it to the model, which passes it to other tools as an argument. */
  readonly id: string
  readonly value: T
  /** When the state expires if it is not used, as ISO 8601. */
  readonly expiresAt: string
}

/**
 * The caller's handles of one kind. Each use extends the life of the state by `idleTtlMs`.
 *
 * `read`, `update` and `delete` throw a HandleError if the caller has no such handle. Every method throws a
 * ToolError if the store cannot be reached; a change that was not acknowledged may then be written or not.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#stateful-tools
 */
export interface Handles<T> {
  /**
   * Keeps a value under a new handle. Throws a ToolError if the caller has reached the limit of handles
   * (TRIVET_MAX_HANDLES_PER_CALLER, 10,000 by default) or the value is larger than `maxBytes`. All anonymous
   * callers share one limit, and each of their addresses may create a tenth of it within the idle lifetime.
   */
  create (value: T): Promise<NewHandle<T>>
  /** Resolves to the current value. */
  read (id: string): Promise<T>
  /**
   * Changes the value atomically, on every replica, and resolves to the written value.
   *
   * `change` receives a draft of its own. It changes the draft, or returns another value. It is called again
   * after a concurrent change, so it must have no other effects. An error that it throws ends the update:
   * nothing is written.
   *
   * Throws a ToolError if the new value is larger than `maxBytes`, or if concurrent changes do not stop.
   */
  update (id: string, change: (draft: T) => T | undefined | void | Promise<T | undefined | void>): Promise<T>
  /** Deletes the state. Its id is then unknown. */
  delete (id: string): Promise<void>
}

const HANDLE_ERROR = Symbol.for('trivet.handle-error')

/**
 * The caller has no such handle. The handle is unknown, expired, deleted or another caller's: the caller must
 * not learn which. Uncaught in a tool, it is a tool error that names the tool to create a new handle with.
 */
export class HandleError extends ToolError {
  readonly [HANDLE_ERROR] = true

  constructor (message: string) {
    super(message)
    this.name = 'HandleError'
  }
}

// Checks the symbol and not `instanceof`: a catalog may have its own copy of this package.
export function isHandleError (error: unknown): error is HandleError {
  return error instanceof Error && HANDLE_ERROR in error
}
