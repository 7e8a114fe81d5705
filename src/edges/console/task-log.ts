// The log messages of tasks, for the page of their author: the protocol carries none after the call went on.

import { LRUCache } from 'lru-cache'

const MAX_TASKS = 20
const MAX_LINES = 200
/** In characters of JSON. */
const MAX_LENGTH = 5000

export class TaskLog {
  readonly #linesById = new LRUCache<string, string[]>({ max: MAX_TASKS })

  /** Keeps the last messages of the last tasks. @param notification `notifications/message` as JSON. */
  add (taskId: string, notification: string): void {
    const lines = this.#linesById.get(taskId) ?? []
    this.#linesById.set(taskId, lines)
    lines.push(notification.length > MAX_LENGTH ? toShort(notification) : notification)
    if (lines.length > MAX_LINES) lines.shift()
  }

  /** Returns the parameters of the messages. */
  of (taskId: string): unknown[] {
    return (this.#linesById.peek(taskId) ?? []).map((line) => JSON.parse(line).params)
  }
}

function toShort (notification: string): string {
  const { params: { level } } = JSON.parse(notification)
  return JSON.stringify({ params: { level, data: `${notification.length} characters of JSON` } })
}
