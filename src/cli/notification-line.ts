// What a tool reports while it runs, as lines for a terminal.

import { toPlain } from '../base/words.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { Progress } from '../protocol/notifications.ts'

/** @param json a notification of progress, or a message for the log. */
export function toNotificationLine (json: string): string {
  const { method, params }: NotificationJson = JSON.parse(json)
  return `${toPlain(method === 'notifications/progress' ? toProgressText(params) : toMessageText(params))}\n`
}

interface MessageParams { readonly level: unknown, readonly data: unknown }
interface NotificationJson { readonly method: string, readonly params: Progress & MessageParams }

function toProgressText ({ progress, total, message }: Progress): string {
  const part = total === undefined ? `${progress}` : `${progress} of ${total}`
  return message === undefined ? `progress ${part}` : `progress ${part}: ${message}`
}

/** A message with data is an object with its text under `message`. */
function toMessageText ({ level, data }: MessageParams): string {
  if (!isObject(data)) return `${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`
  const { message, ...rest } = data
  const more = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest)
  return [`${String(level)}:`, message, more].filter((part) => part !== undefined && part !== '').join(' ')
}
