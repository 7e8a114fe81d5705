// Requests of the service that wait for a client's answer. The answer may arrive at another replica, which
// sends it to the replica that waits.

import { createTally } from '../../base/tally.ts'
import { random, type Timer, timers } from '../../base/time.ts'
import { shareOf } from '../../limits/share.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import type { Lifetime } from '../../request/pipeline/lifetime.ts'
import type { SessionMessage, SessionMessages } from './session-messages.ts'
import type { Session } from './session.ts'

/** The client answered with an error, or did not answer in time. */
export class ClientRefusal extends Error {
  constructor (detail: string) {
    super(`the client refused: ${detail.slice(0, 300)}`)
    this.name = 'ClientRefusal'
  }
}

/** The client was not asked: too many questions wait for their answers. */
export class TooManyQuestions extends Error {
  constructor (detail: string) {
    super(`too many questions wait for an answer: ${detail}`)
    this.name = 'TooManyQuestions'
  }
}

/** The `result` or the `error` of a client's response, unchecked. */
interface ClientResponse { readonly result?: unknown, readonly error?: unknown }

type Asked = Pick<Session, 'id' | 'network'>

interface AnswerKey { readonly session: string, readonly request: string }

/** An answer that waits for its confirmation. */
interface Delivery {
  onWanted (): void
  onTaken (): void
}

interface AskOptions {
  /** Sends the request under the id. */
  send (id: string): void
  /** The lifetime of the request that asked. */
  readonly lifetime: Pick<Lifetime, 'onStop'>
  /** How long the client has for its answer. */
  readonly timeoutMs: number
}

export interface ClientAnswers {
  /**
   * Sends a request to the client. Resolves to the result. Rejects with a ClientRefusal, with
   * TooManyQuestions, or when the request that asked is stopped.
   */
  ask (session: Asked, options: AskOptions): Promise<unknown>
  /**
   * Resolves to whether a replica, this one included, was waiting for the response. Rejects if the other
   * replicas could not be asked.
   */
  deliver (session: string, request: string, response: ClientResponse): Promise<boolean>
  close (): void
}

/** How long the replica that waits for an answer may take to confirm it, in milliseconds. */
const CONFIRM_TIMEOUT_MS = 1000
/**
 * A longer answer, as JSON, is offered first: clients may send answers that no replica waits for, and each
 * replica would receive them.
 */
const MAX_UNOFFERED_LENGTH = 16_384

/**
 * A call that waits for an answer holds its memory, about 25 KB, also when its client is gone. The limits are
 * those of one session and of one replica.
 */
const MAX_WAITING_OF_SESSION = 50
const MAX_WAITING = 4000
const MAX_WAITING_OF_NETWORK = shareOf(MAX_WAITING)

/** Begins with the name of the replica that asked. */
const QUESTION_ID = /^([\w-]{12})\.[0-9a-f-]{36}$/

export function createClientAnswers (messages: SessionMessages): ClientAnswers {
  const replica = random.name(9)
  const waiting = new Map<string, (response: ClientResponse) => void>()
  /** How many questions of a session, and of a network, wait. */
  const bySession = createTally()
  const byNetwork = createTally()
  const delivering = new Map<string, Delivery>()

  function reply (type: 'answer-wanted' | 'answer-taken', { session, request }: AnswerKey): void {
    messages.send({ type, session, request }).catch(() => {})
  }

  function checkLimits ({ id, network }: Asked): void {
    if (bySession.of(id) >= MAX_WAITING_OF_SESSION) {
      throw new TooManyQuestions(`${MAX_WAITING_OF_SESSION} of this session`)
    }
    if (waiting.size >= MAX_WAITING) throw new TooManyQuestions(`${waiting.size} of this replica`)
    if (byNetwork.of(network) >= MAX_WAITING_OF_NETWORK) {
      throw new TooManyQuestions(`${MAX_WAITING_OF_NETWORK} of this address`)
    }
  }

  /** Returns a function that ends the counting. */
  function count ({ id, network }: Asked): () => void {
    const uncounts = [bySession.add(id, 1), byNetwork.add(network, 1)]
    return () => { for (const uncount of uncounts) uncount() }
  }

  /** Returns whether the answer was waited for. */
  function take (key: AnswerKey, response: ClientResponse): boolean {
    const resolve = waiting.get(keyOf(key))
    resolve?.(response)
    return resolve !== undefined
  }

  const stopListening = messages.listen((message) => {
    switch (message.type) {
      case 'answer-offered': {
        if (waiting.has(keyOf(message))) reply('answer-wanted', message)
        return
      }
      case 'answer-wanted': return delivering.get(keyOf(message))?.onWanted()
      case 'answer-taken': return delivering.get(keyOf(message))?.onTaken()
      case 'answered': if (take(message, toResponse(message.response))) reply('answer-taken', message)
    }
  })

  /** Resolves to whether another replica took the answer. */
  async function passOn (key: AnswerKey, response: ClientResponse): Promise<boolean> {
    const isOffered = JSON.stringify(response).length > MAX_UNOFFERED_LENGTH
    let timer: Timer | undefined
    try {
      return await new Promise((resolve, reject) => {
        timer = timers.setTimeout(() => resolve(false), CONFIRM_TIMEOUT_MS)
        const send = (message: SessionMessage) => { messages.send(message).catch(reject) }
        const sendAnswer = () => send({ type: 'answered', ...key, response })
        const onWanted = () => {
          timer?.refresh()
          sendAnswer()
        }
        delivering.set(keyOf(key), { onWanted, onTaken: () => resolve(true) })
        if (isOffered) send({ type: 'answer-offered', ...key })
        else sendAnswer()
      })
    } finally {
      timers.clear(timer)
      delivering.delete(keyOf(key))
    }
  }

  return {
    async ask (session, { send, lifetime, timeoutMs }) {
      checkLimits(session)
      const request = `${replica}.${random.uuid()}`
      const key = keyOf({ session: session.id, request })
      const uncount = count(session)
      let timer: Timer | undefined
      try {
        return await new Promise<unknown>((resolve, reject) => {
          waiting.set(key, ({ result, error }) => {
            waiting.delete(key)
            if (error === undefined) resolve(result)
            else reject(new ClientRefusal(toReason(error)))
          })
          timer = timers.setTimeout(() => reject(new ClientRefusal('it did not answer in time')), timeoutMs)
          lifetime.onStop(reject)
          send(request)
        })
      } finally {
        uncount()
        timers.clear(timer)
        waiting.delete(key)
      }
    },
    async deliver (session, request, response) {
      const [, asker] = QUESTION_ID.exec(request) ?? []
      const key = { session, request }
      if (asker === undefined) return false
      // The other replica may be gone: only its silence tells.
      return asker === replica ? take(key, response) : await passOn(key, response)
    },
    close: stopListening
  }
}

function keyOf ({ session, request }: AnswerKey): string {
  return `${session} ${request}`
}

/** Reads only the message: the other members of a client's error may be nested to any depth. */
function toReason (error: unknown): string {
  return isObject(error) && typeof error.message === 'string' ? error.message : 'it did not say why'
}

function toResponse (response: unknown): ClientResponse {
  return typeof response === 'object' && response !== null ? response : {}
}
