// The channel between a parent and one of its workers. Both sides tell and ask each other by the same form.

import { withinDeadline } from '../../base/deadline.ts'
import { messageOf } from '../../base/words.ts'

/**
 * How long the other side may take to answer, in milliseconds. Within this time a parent on a busy machine
 * gives up a worker that hangs, and answers.
 */
const ANSWER_MS = 4000

interface LinkQuestion {
  readonly value?: unknown
  /** How long the answer may take, in milliseconds. */
  readonly limitMs?: number
}

/** Called with the value of a message. What a handler returns, or resolves to, is the answer. */
export type LinkHandlers = ReadonlyMap<string, (value: unknown) => unknown>

interface LinkMessage {
  /** The name of a handler, or `answer`. */
  readonly trivet: string
  /** Names the question. Absent if nobody waits for an answer. */
  readonly id?: number
  readonly value?: unknown
  /** Present if the answer is a failure. */
  readonly problem?: string
}

const ANSWER = 'answer'

export class Link {
  readonly #send: (message: object) => void
  readonly #handlers: LinkHandlers
  readonly #waiting = new Map<number, (answer: LinkMessage) => void>()
  #asked = 0

  /** @param send does nothing if the other side has ended. */
  constructor (send: (message: object) => void, handlers: LinkHandlers) {
    this.#send = send
    this.#handlers = handlers
  }

  tell (name: string, value?: unknown): void {
    this.#send({ trivet: name, value } satisfies LinkMessage)
  }

  /** Rejects if the other side fails, or does not answer in time. */
  async ask (name: string, { value, limitMs = ANSWER_MS }: LinkQuestion = {}): Promise<unknown> {
    const id = ++this.#asked
    const answer = new Promise<LinkMessage>((resolve) => { this.#waiting.set(id, resolve) })
    this.#send({ trivet: name, id, value } satisfies LinkMessage)
    try {
      const { problem, value } = await withinDeadline(answer, limitMs, () => new Error('no answer'))
      if (problem !== undefined) throw new Error(problem)
      return value
    } finally {
      this.#waiting.delete(id)
    }
  }

  /** Takes what the other side has sent. Modules of a catalog may send messages too. */
  receive (message: unknown): void {
    if (!isLinkMessage(message)) return
    const { trivet: name, id, value } = message
    if (name === ANSWER) return this.#waiting.get(id ?? 0)?.(message)
    const handler = this.#handlers.get(name)
    if (handler === undefined) return
    const handling = (async () => await handler(value))()
    handling.then(
      (answer) => this.#answer({ id, value: answer }),
      (error: unknown) => this.#answer({ id, problem: messageOf(error) })
    )
  }

  #answer ({ id, ...outcome }: { id: number | undefined, value?: unknown, problem?: string }): void {
    if (id !== undefined) this.#send({ trivet: ANSWER, id, ...outcome } satisfies LinkMessage)
  }
}

function isLinkMessage (message: unknown): message is LinkMessage {
  return typeof message === 'object' && message !== null && 'trivet' in message &&
    typeof message.trivet === 'string'
}
