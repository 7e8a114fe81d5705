// The parts that are open. A shutdown, a start that fails and a start that is interrupted close them by the
// same code.

import { unlessAborted } from './deadline.ts'

/** The service cannot start, for a reason that its operator can remove. The message is for the operator. */
export class StartError extends Error {}

/** A part without `close` needs none. */
type Closable = { close? (): void | Promise<void> } | undefined

export class Lifecycle {
  /** Aborts when `close` is called, or when the signal of the constructor aborts. */
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #closes: Array<() => void | Promise<void>> = []
  #closing: Promise<void> | undefined

  /** @param interruption aborts when the start is to end. */
  constructor (interruption?: AbortSignal) {
    const { signal } = this.#controller
    this.signal = interruption === undefined ? signal : AbortSignal.any([signal, interruption])
  }

  /** Opens all parts. If that fails, closes those that are open, and rejects with the error of the start. */
  async start<T> (openAll: () => Promise<T>): Promise<T> {
    try {
      return await openAll()
    } catch (error) {
      await this.close().catch(() => {})
      throw error
    }
  }

  /**
   * Waits until a part has opened. Rejects at once when the signal aborts: the part is then closed as soon as
   * it has opened.
   */
  async open<T extends Closable> (opening: Promise<T>): Promise<T> {
    this.#register(async () => await opening.then(async (part) => await part?.close?.(), () => {}))
    return await unlessAborted(opening, this.signal)
  }

  /** Registers a part that is open, and returns it. */
  add<T extends Closable> (part: T): T {
    this.#register(() => part?.close?.())
    return part
  }

  /**
   * Closes the parts one by one, the last one first. Idempotent. Rejects with the first error, after all
   * parts.
   */
  async close (): Promise<void> {
    this.#closing ??= this.#closeParts()
    await this.#closing
  }

  #register (close: () => void | Promise<void>): void {
    if (this.#closing === undefined) {
      this.#closes.push(close)
      return
    }
    this.#closing = this.#closing.finally(close)
    // close() returns this rejection. Without a handler it would be unhandled if nobody calls close again.
    this.#closing.catch(() => {})
  }

  async #closeParts (): Promise<void> {
    this.#controller.abort(new StartError('The service is shutting down'))
    const errors: unknown[] = []
    for (const close of this.#closes.toReversed()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
