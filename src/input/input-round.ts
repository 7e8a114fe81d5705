// One round of a request that may ask its client something: what has been answered so far, and what is asked
// now.

import type { AnswersOf, InputRequest } from '../authoring/input-request.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'

export interface InputRound {
  /** Resolves to the answers, or rejects because they are missing: then `pending` says what to send. */
  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  /** Resolves to the first result of `fn` in all rounds of the request. */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  /**
   * To be awaited when the handler has ended, before `pending` is read: it may have been left by one `ask`
   * while another, or a `once` whose result must not be lost, was still under way. `undefined` where there is
   * nothing to wait for.
   */
  settle (): Promise<void> | undefined
  /**
   * What must be asked before the handler can go on, as the members of an InputRequiredResult in JSON without
   * braces; `undefined` where nothing is open. To be read when the handler has ended, however it did. Throws
   * where what must be carried to the next round is too large.
   */
  readonly pending: string | undefined
}

/** What a round belongs to: its request state opens for nothing else. */
export interface RoundBinding {
  /** Who asks: as the owner of state is named. */
  readonly owner: string
  readonly method: string
  /** The tool, the prompt or the URI. */
  readonly name: string
  /** As they came. The order of members does not matter, and none at all are the same as `{}`. */
  readonly args: unknown
}

/** What a request brings to its round. */
export interface RoundRequest {
  readonly inputResponses: unknown
  readonly requestState: string | undefined
  readonly capabilities: ClientCapabilities
  /** What the round belongs to, once there is something to seal or to open. */
  readonly bind: () => RoundBinding
}
