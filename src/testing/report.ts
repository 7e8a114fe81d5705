// Collects what a handler reports during its request.

import { isObject } from '../protocol/json-rpc.ts'
import type { LogLevel } from '../protocol/log-levels.ts'
import type { Progress } from '../protocol/notifications.ts'
import type { LogMessage, Reported, ResourceChange } from './test-results.ts'

type NotificationJson =
  | { readonly method: 'notifications/progress', readonly params: Progress & { progressToken: unknown } }
  | { readonly method: 'notifications/message', readonly params: { level: LogLevel, data: unknown } }

export class Report implements Reported {
  readonly progress: Progress[] = []
  readonly logs: LogMessage[] = []
  readonly changes: ResourceChange[] = []

  addNotification (json: string): void {
    const notification: NotificationJson = JSON.parse(json)
    if (notification.method === 'notifications/progress') {
      const { progressToken, ...progress } = notification.params
      this.progress.push(progress)
    } else this.logs.push(toLogMessage(notification.params))
  }

  addChange ({ uri, owner }: { readonly uri: string, readonly owner?: string }): void {
    this.changes.push({ uri, private: owner !== undefined })
  }
}

/** A message with data is an object, and one without is a text. */
function toLogMessage ({ level, data }: { readonly level: LogLevel, readonly data: unknown }): LogMessage {
  if (!isObject(data)) return { level, message: String(data) }
  const { message, ...rest } = data
  return { level, message: String(message), data: rest }
}
