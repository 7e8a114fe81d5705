// What the handlers of the catalog tell the simulation, and what they do beside their steps.

/** What a handler does, in order. Each has a key by its position. */
export type Operation =
  /** A step that takes this long. @param isOnce by `ctx.once`. */
  | { readonly do: 'step', readonly ms: number, readonly isOnce?: boolean }
  /** Two steps at once. */
  | { readonly do: 'both', readonly ms: number }
  | { readonly do: 'sleep', readonly ms: number }
  | { readonly do: 'ask', readonly questions: 1 | 2 }
  /** A question beside a sleep. */
  | { readonly do: 'ask-and-sleep', readonly ms: number }
  | { readonly do: 'wait', readonly ms: number }
  | { readonly do: 'progress' }
  /** A step that creates a handle, and tries again while the store is away. */
  | { readonly do: 'handle' }
  /** Ends the replica. */
  | { readonly do: 'crash' }
  | { readonly do: 'throw' }

export interface Probe {
  /** A handler was called. */
  called (job: string): void
  /** The handler has ended, or must run again. */
  left (job: string): void
  /** The function of a step begins. Returns its result. */
  begin (job: string, key: string): string
  /** The service has acknowledged the result of a step. */
  acknowledged (job: string, key: string, value: string): void
  /** The step with this key has created a handle. */
  created (job: string, key: string): void
  /** The undo of a task was called. */
  undoing (job: string): void
  /** The undo of a task has ended. */
  undone (job: string): void
  /** An idempotent call begins. Returns its result. */
  order (key: string, caller: string): string
  /** An idempotent call has ended. */
  ordered (value: string, hasFailed?: boolean): void
  pause (ms: number): Promise<void>
  /** Ends the replica. Never resolves. @param by who does it: a handler that was cancelled may still run. */
  crash (job: string, by: 'handler' | 'undo'): Promise<void>
}
