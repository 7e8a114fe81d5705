// Requests of the service that wait for a client's answer. The answer may arrive at another replica: the
// relay passes it to the replica that waits.

import type { Lifetime } from '../dispatch/lifetime.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { SessionRelay } from './session-relay.ts'

/** The client answered with an error, or did not answer in time. */
export class ClientRefusal extends Error {
  constructor (detail: string) {
    super(`the client refused: ${detail.slice(0, 300)}`)
    this.name = 'ClientRefusal'
  }
}

/** The `result` or the `error` of a client's response, unchecked. */
interface ClientResponse { readonly result?: unknown, readonly error?: unknown }

interface WaitOptions {
  /** The lifetime of the request that asked. */
  readonly lifetime: Pick<Lifetime, 'onStop'>
  /** How long the client has for its answer. */
  readonly timeoutMs: number
}

export interface ClientAnswers {
  /** Resolves to the result; rejects with a ClientRefusal, or when the request that asked is stopped. */
  wait (session: string, request: string, options: WaitOptions): Promise<unknown>
  /**
   * Resolves to whether a replica, this one included, was waiting for the response. Rejects if the other
   * replicas could not be asked.
   */
  deliver (session: string, request: string, response: ClientResponse): Promise<boolean>
  close (): void
}

/** How long the replica that waits for an answer may take to confirm it, in milliseconds. */
const CONFIRM_TIMEOUT_MS = 1000

export function createClientAnswers (relay: SessionRelay): ClientAnswers {
  const waiting = new Map<string, (response: ClientResponse) => void>()
  const delivering = new Map<string, () => void>()
  const keyOf = (session: string, request: string) => `${session} ${request}`

  const stopListening = relay.listen((message) => {
    if (message.type === 'answered') {
      const take = waiting.get(keyOf(message.session, message.request))
      if (take === undefined) return
      take(toResponse(message.response))
      relay.send({ type: 'answer-taken', session: message.session, request: message.request }).catch(() => {})
    } else if (message.type === 'answer-taken') {
      delivering.get(keyOf(message.session, message.request))?.()
    }
  })

  return {
    async wait (session, request, { lifetime, timeoutMs }) {
      const key = keyOf(session, request)
      let timer: NodeJS.Timeout | undefined
      try {
        return await new Promise<unknown>((resolve, reject) => {
          waiting.set(key, ({ result, error }) => {
            waiting.delete(key)
            if (error === undefined) resolve(result)
            else reject(new ClientRefusal(toReason(error)))
          })
          timer = setTimeout(() => reject(new ClientRefusal('it did not answer in time')), timeoutMs)
          lifetime.onStop(reject)
        })
      } finally {
        clearTimeout(timer)
        waiting.delete(key)
      }
    },
    async deliver (session, request, response) {
      const key = keyOf(session, request)
      let timer: NodeJS.Timeout | undefined
      const taken = new Promise<boolean>((resolve) => {
        delivering.set(key, () => resolve(true))
        timer = setTimeout(() => resolve(false), CONFIRM_TIMEOUT_MS)
      })
      try {
        await relay.send({ type: 'answered', session, request, response })
        return await taken
      } finally {
        clearTimeout(timer)
        delivering.delete(key)
      }
    },
    close: stopListening
  }
}

/** Reads only the message: the other members of a client's error may be nested to any depth. */
function toReason (error: unknown): string {
  return isObject(error) && typeof error.message === 'string' ? error.message : 'it did not say why'
}

function toResponse (response: unknown): ClientResponse {
  return typeof response === 'object' && response !== null ? response : {}
}
