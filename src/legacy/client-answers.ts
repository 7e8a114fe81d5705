// Requests of the service that clients have yet to answer. The answer may come to another replica than the
// one that waits.

import type { Lifetime } from '../dispatch/lifetime.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { SessionRelay } from './session-relay.ts'

/** The client answered with an error. */
export class ClientRefusal extends Error {
  constructor (detail: string) {
    super(`the client refused: ${detail.slice(0, 300)}`)
    this.name = 'ClientRefusal'
  }
}

/** What a client answered with, as it came: its `result` or its `error`. */
export interface ClientResponse { readonly result?: unknown, readonly error?: unknown }

export interface WaitOptions {
  /** Of the request that asked. */
  readonly lifetime: Pick<Lifetime, 'onStop'>
  /** How long the client has for its answer. */
  readonly timeoutMs: number
}

export interface ClientAnswers {
  /** Resolves to the result; rejects with a ClientRefusal, or when the request that asked is stopped. */
  wait (session: string, request: string, options: WaitOptions): Promise<unknown>
  /** Whether somebody waited for it, here or elsewhere. Rejects where that could not be asked. */
  deliver (session: string, request: string, response: ClientResponse): Promise<boolean>
  close (): void
}

/** How long another replica has to say that the answer is its own, in milliseconds. */
const TAKEN_TIMEOUT_MS = 1000

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
            else reject(new ClientRefusal(wordsOf(error)))
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
        timer = setTimeout(() => resolve(false), TAKEN_TIMEOUT_MS)
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

/** What else is in an error may nest without end. */
function wordsOf (error: unknown): string {
  return isObject(error) && typeof error.message === 'string' ? error.message : 'it did not say why'
}

function toResponse (response: unknown): ClientResponse {
  return typeof response === 'object' && response !== null ? response : {}
}
