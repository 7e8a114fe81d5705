// Knows in which request code of the catalog prints: writes with `console`, or to a standard stream.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Outcome } from './method.ts'
import type { Observed } from './observer.ts'

/** The fields of a line that say what printed it. The line of the request has the same. */
export interface PrintingRequest {
  readonly reqId: string
  readonly method: string | undefined
  readonly name: string | undefined
}

export interface PrintScope {
  /** Calls `handle` as the code of this request. */
  run (observed: Observed, handle: () => Outcome | Promise<Outcome>): Outcome | Promise<Outcome>
  /**
   * The request whose code runs. `undefined` outside of `run`, and before Node 24 also for code that a
   * request left behind.
   */
  current (): PrintingRequest | undefined
}

export function createPrintScope (): PrintScope {
  const requests = new AsyncLocalStorage<PrintingRequest>()
  let running = 0

  /** Before Node 24 every promise of the process is slower while the storage is in use. */
  function end (): void {
    if (--running === 0) requests.disable()
  }

  return {
    run ({ requestId, method, subject }, handle) {
      running++
      let outcome: Outcome | Promise<Outcome>
      try {
        // A small object: a timer or a connection of the handler keeps it.
        outcome = requests.run({ reqId: requestId, method, name: subject }, handle)
      } catch (error) {
        end()
        throw error
      }
      if (outcome instanceof Promise) outcome.then(end, end)
      else end()
      return outcome
    },
    current: () => requests.getStore()
  }
}
