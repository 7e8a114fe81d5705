import { StoreUnavailable } from '../records/state-store.ts'

/** The calls of a store. Its end waits for them, and refuses later ones. */
export class CallsUnderWay {
  readonly #calls = new Set<Promise<unknown>>()
  readonly #throwUnavailable: (error: unknown) => never
  #isClosed = false

  /** @param throwUnavailable throws what callers get for an error of the driver. */
  constructor (throwUnavailable: (error: unknown) => never) {
    this.#throwUnavailable = throwUnavailable
  }

  readonly run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.#isClosed) throw new StoreUnavailable(new Error('the store is closed'))
    const call = work()
    this.#calls.add(call)
    return await call.catch(this.#throwUnavailable).finally(() => { this.#calls.delete(call) })
  }

  async close (): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#calls)
  }
}
