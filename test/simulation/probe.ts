// What the handlers of the catalog tell the simulation, and what they do beside their steps.

/** What a handler does, in order. Each has a key by its position. */
export type Operation =
  /** A step that takes this long. @param isOnce by `ctx.once`. @param heeds whether its signal ends it. */
  | { readonly do: 'step', readonly ms: number, readonly isOnce?: boolean, readonly heeds?: boolean }
  /** Two steps at once. */
  | { readonly do: 'both', readonly ms: number }
  /**
   * Steps with a pause of this length before each.
   * @param isBeside whether a step begins though those before it are not acknowledged.
   */
  | { readonly do: 'rounds', readonly ms: number, readonly count: number, readonly isBeside?: boolean }
  /** A step that fails. The handler catches that, and goes on. */
  | { readonly do: 'fail', readonly ms: number }
  | { readonly do: 'sleep', readonly ms: number }
  /** A sleep, in place of which the handler ends once it has slept: its code is not the same each time. */
  | { readonly do: 'stray', readonly ms: number }
  /** Two sleeps beside each other. The second one takes twice as long. */
  | { readonly do: 'sleeps', readonly ms: number }
  | { readonly do: 'ask', readonly questions: 1 | 2 }
  /** Two calls of `ask` beside each other. */
  | { readonly do: 'asks' }
  /**
   * A question beside a sleep; what comes first of an answer and the end of a sleep; and a question beside a
   * sleep with another question after it.
   * @param lateMs how long each run needs until it comes to them.
   */
  | {
    readonly do: 'ask-and-sleep' | 'ask-or-sleep' | 'ask-and-ask-later',
    readonly ms: number,
    readonly lateMs?: number
  }
  /** A question beside a step. */
  | { readonly do: 'ask-and-step', readonly ms: number }
  | { readonly do: 'wait', readonly ms: number }
  | { readonly do: 'progress' }
  /** A step that creates a handle, and tries again while the store is away. */
  | { readonly do: 'handle' }
  /** Ends the replica. */
  | { readonly do: 'crash' }
  | { readonly do: 'throw' }
  /** Ends the handler with an error for the model. */
  | { readonly do: 'refuse' }

export interface Probe {
  /** A handler was called. Returns the name of its run. @param scopes those of its caller. */
  called (job: string, scopes: readonly string[]): string
  /** The handler has ended, or must run again. */
  left (job: string, run: string): void
  /** The function of a step begins. Returns its result. */
  begin (job: string, key: string, run: string): string
  /** The service has acknowledged the result of a step. */
  acknowledged (job: string, key: string, value: string, run: string): void
  /** The handler was told that a step has failed. */
  failed (job: string, key: string, run: string): void
  /** The step with this key has created a handle. */
  created (job: string, key: string): void
  /** The handler has got the answer to a question. */
  answered (job: string, key: string, by: string): void
  /** The handler comes to a sleep. */
  sleeping (job: string, key: string): void
  /** A sleep of this length is over. */
  slept (job: string, key: string, ms: number): void
  /** Whether the handler is to end now. @param sleeps how many sleeps the run has come to. */
  strays (job: string, sleeps: number): boolean
  /** Whether what makes the undo of a task fail is mended. */
  isMended (job: string): boolean
  /** The undo of a task was called. Returns the name of its run. */
  undoing (job: string, scopes: readonly string[]): string
  /** The undo was told what a step of the task has returned. */
  recalled (job: string, key: string, value: string | undefined): void
  /** The undo of a task has ended. */
  undone (job: string): void
  /** An idempotent call begins. Returns its result. */
  order (key: string, caller: string): string
  /** An idempotent call has ended. */
  ordered (value: string, hasFailed?: boolean): void
  /** @param signal ends the pause, with its reason. */
  pause (ms: number, signal?: AbortSignal): Promise<void>
  /** Ends the replica. Never resolves. @param by who does it: a handler that was cancelled may still run. */
  crash (job: string, by: 'handler' | 'undo'): Promise<void>
}
