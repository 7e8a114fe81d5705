// One request that waits for a change of a task.

import { clock, timers, type Timer } from '../../../base/time.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { TaskRecord } from '../records/record.ts'
import { toStatusMessage, type TaskWatcher, type TaskWatches } from '../runs/watches.ts'

export class CallWait implements TaskWatcher {
  readonly #request: RequestContext
  readonly #endsAt: number
  readonly #stopWatching: () => void
  #isNoted = false
  #isEnded = false
  #wake = (): void => {}
  /** The latest status message that the client of the request has got, or was told of, and its progress. */
  #message: string | undefined
  #progress = -Infinity

  /** @param ms how long to wait at most, from now on. */
  constructor (watches: TaskWatches, entry: string, request: RequestContext, ms: number) {
    this.#request = request
    this.#endsAt = clock.monotonic() + ms
    this.#stopWatching = watches.add(entry, this)
    request.lifetime.onStop(() => this.end())
  }

  /** Whether the time is over, or the wait was ended. */
  get isOver (): boolean { return this.#isEnded || clock.monotonic() >= this.#endsAt }

  note (): void {
    this.#isNoted = true
    this.#wake()
  }

  onProgress (progress: Progress): void {
    this.#message = toStatusMessage(progress)
    this.#progress = progress.progress
    this.#request.progress(progress.progress, progress.total, progress.message)
  }

  /**
   * Tells the client the status message of a record, unless it knows that one, or a later one.
   * @param isElsewhere whether the task runs on another replica. A run here tells its progress at once.
   */
  noteStatus (
    { statusMessage, progress }: Pick<TaskRecord, 'statusMessage' | 'progress'>, isElsewhere: boolean
  ): void {
    if (progress !== undefined && progress <= this.#progress) return
    if (isElsewhere && statusMessage !== undefined && statusMessage !== this.#message) {
      this.#request.progressMessage(statusMessage)
    }
    this.#message = statusMessage
    this.#progress = progress ?? this.#progress
  }

  /** Resolves after a change since the last call, after this time, or when the wait is over. */
  async next (ms: number): Promise<void> {
    if (!this.#isNoted && !this.isOver) await this.#sleep(Math.min(ms, this.#endsAt - clock.monotonic()))
    this.#isNoted = false
  }

  /** Ends the wait now. Idempotent. */
  end (): void {
    this.#isEnded = true
    this.#stopWatching()
    this.#wake()
  }

  async #sleep (ms: number): Promise<void> {
    let timer: Timer | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      timer = timers.setTimeout(resolve, ms)
    })
    timers.clear(timer)
  }
}
