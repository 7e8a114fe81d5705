// State that outlives a request, as a handler uses it.

import { ToolError } from './tool-error.ts'

/** A handle that was just made. */
export interface NewHandle<T> {
  /** Opaque; give it to the model, who passes it to the other tools. */
  readonly id: string
  readonly value: T
  /** When the state ends unless it is used, as ISO 8601. */
  readonly expiresAt: string
}

/**
 * The handles of one kind that belong to this request's caller.
 *
 * `read`, `update` and `delete` throw a HandleError where the caller has no such handle. All of them throw a ToolError
 * where the store cannot be reached; what was not acknowledged may then be written or not.
 */
export interface Handles<T> {
  /** Keeps a value under a new handle. Throws a ToolError where the caller has as many as they may, or the value is too large. */
  create (value: T): Promise<NewHandle<T>>
  /** The value as it is now. */
  read (id: string): Promise<T>
  /**
   * Changes the value as one step, whoever else changes it, on whichever replica.
   * `change` gets a draft of its own, changes it or returns another value, and may be called again where somebody else
   * was faster: let it have no other effects. What it throws ends the update with nothing changed.
   * Resolves to the value as it was written.
   */
  update (id: string, change: (draft: T) => T | undefined | void | Promise<T | undefined | void>): Promise<T>
  delete (id: string): Promise<void>
}

const HANDLE_ERROR = Symbol.for('trivet.handle-error')

/**
 * There is no such handle for this caller: it is unknown, expired, deleted or somebody else's, and they must not learn
 * which. Uncaught, it is a tool error that tells the model which tool makes a new one.
 */
export class HandleError extends ToolError {
  readonly [HANDLE_ERROR] = true

  constructor (message: string) {
    super(message)
    this.name = 'HandleError'
  }
}

export function isHandleError (error: unknown): error is HandleError {
  return error instanceof Error && HANDLE_ERROR in error
}
