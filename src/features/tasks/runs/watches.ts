// The requests and streams of this replica that wait for changes of a task.

import { cut } from '../../../base/text.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'

/** Longer status messages are cut. */
const MAX_MESSAGE_LENGTH = 1000

export interface TaskWatcher {
  /** Called when the task may have changed. The record is the truth. */
  note (): void
  /** Called with the progress of a run on this replica. */
  onProgress? (progress: Progress): void
}

export class TaskWatches {
  readonly #byEntry = new Map<string, Set<TaskWatcher>>()
  /** Stops the delivery of changes. */
  readonly close: () => void

  constructor (broadcast: Broadcast) {
    this.close = broadcast.subscribe((event) => {
      if (event.type === 'task-changed') this.note(event.entry)
      else if (event.type === 'events-missed') for (const entry of this.#byEntry.keys()) this.note(entry)
    })
  }

  /** Returns what ends the watch. */
  add (entry: string, watcher: TaskWatcher): () => void {
    this.#byEntry.set(entry, (this.#byEntry.get(entry) ?? new Set()).add(watcher))
    return () => {
      const watchers = this.#byEntry.get(entry)
      watchers?.delete(watcher)
      if (watchers?.size === 0) this.#byEntry.delete(entry)
    }
  }

  tellProgress (entry: string, progress: Progress): void {
    for (const watcher of this.#byEntry.get(entry) ?? []) watcher.onProgress?.(progress)
  }

  /** Tells this replica alone of a change that others need not know, such as the end of a run. */
  note (entry: string): void {
    for (const watcher of this.#byEntry.get(entry) ?? []) watcher.note()
  }
}

/** Returns the progress as the status message of a task. */
export function toStatusMessage ({ progress, total, message }: Progress): string {
  const numbers = total === undefined ? String(progress) : `${progress} of ${total}`
  // A handler without types may pass anything.
  return cut(String(message ?? numbers), MAX_MESSAGE_LENGTH)
}
