// Keeps what handlers threw. The error of a task has only the id of the request that failed.

import { isObject } from '../../platform/protocol/json-rpc.ts'
import { INTERNAL_ERROR } from '../../platform/protocol/errors.ts'
import type { Observer } from '../../request/pipeline/observer.ts'

/** How many are kept. The oldest goes first. */
const MAX_CAUSES = 1000

export interface Causes {
  readonly observer: Observer
  /** Returns what a handler threw. @param data of the error that a client receives. */
  find (data: unknown): unknown
}

export function createCauses (): Causes {
  const causes = new Map<unknown, unknown>()
  return {
    observer: {
      end ({ requestId }, { protocolError }) {
        if (protocolError?.code !== INTERNAL_ERROR || protocolError.cause === undefined) return
        const [oldest] = causes.keys()
        if (causes.size >= MAX_CAUSES) causes.delete(oldest)
        causes.set(requestId, protocolError.cause)
      }
    },
    find: (data) => isObject(data) ? causes.get(data.requestId) : undefined
  }
}
