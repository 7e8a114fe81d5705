// What a round tells the task that its request is, or may become.

/** The values are JSON, by the key of `ask` or of `once`. */
export interface RequestState {
  readonly answers: Map<string, string>
  /** Each result is in an array of its own. The array is empty for a result that is `undefined`. */
  readonly results: Map<string, string>
}

/** Keeps in the service what the client of another request would carry from round to round. */
export interface Journal {
  /** The answers and the results so far. The round adds to it. */
  readonly state: RequestState
  /** Whether the request is a task: its client gets neither the questions nor the state with an answer. */
  readonly isTask: boolean
  /** Whether the handler ended in order to run again later. */
  readonly isSuspended: boolean
  /**
   * Called after each result of `once`. The promise resolves when the result is durable. It rejects if the
   * task keeps too much, or does not run here any more. `undefined` while the request is no task.
   */
  keep (key: string): Promise<void> | undefined
  /** Called for each question without an answer. @param json the input request. */
  ask (key: string, json: string): void
  /** Says how long to wait in this process. Throws a Suspended to end the handler instead. */
  sleep (ms: number): number
}

/** `sleep` rejects with this to end the handler. It is not reported as an error. */
export class Suspended extends Error {
  constructor () {
    super('The task sleeps. The handler runs again afterwards. Do not catch this rejection.')
    this.name = 'Suspended'
  }
}
