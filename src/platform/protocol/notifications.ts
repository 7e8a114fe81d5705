// The names of the notifications that clients send, and those that this service sends, as JSON.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#notifications

import { toWellFormedJson } from '../../base/text.ts'
import { META_SUBSCRIPTION_ID, type ProgressToken } from './envelope.ts'
import { toNotification, type RequestId } from './json-rpc.ts'
import type { LogLevel } from './log-levels.ts'

export interface Progress { progress: number, total?: number, message?: string }

/** The change notifications that a `subscriptions/listen` request asks for, or that its stream sends. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
  /** The tasks to hear of, with the extension io.modelcontextprotocol/tasks. */
  taskIds?: string[]
}

/** The notifications that clients send, of all revisions. */
export const CLIENT_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status'
])

export const LIST_NAMES = ['tools', 'prompts', 'resources'] as const

export type ListName = typeof LIST_NAMES[number]

/** Returns the part of a filter that asks for changes of these lists. */
export function toListFilter (lists: Iterable<ListName>): SubscriptionFilter {
  return Object.fromEntries([...lists].map((list) => [LIST_FLAGS[list], true]))
}

const LIST_FLAGS = {
  tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged'
} as const

/** Returns the lists whose changes the filter asks for. */
export function askedLists (filter: SubscriptionFilter): ListName[] {
  return LIST_NAMES.filter((list) => filter[LIST_FLAGS[list]] === true)
}

export function progressNotification (progressToken: ProgressToken, progress: Progress): string {
  return toNotification('notifications/progress', { progressToken, ...progress })
}

export function logNotification (level: LogLevel, data: unknown, logger?: string): string {
  return toNotification('notifications/message', { level, data, logger })
}

export function acknowledgedNotification (id: RequestId, notifications: SubscriptionFilter): string {
  return toNotification('notifications/subscriptions/acknowledged', {
    _meta: subscriptionMeta(id), notifications
  })
}

export function listChangedNotification (id: RequestId, list: ListName): string {
  return toNotification(`notifications/${list}/list_changed`, { _meta: subscriptionMeta(id) })
}

export function resourceUpdatedNotification (id: RequestId, uri: string): string {
  return toNotification('notifications/resources/updated', { _meta: subscriptionMeta(id), uri })
}

/** @param members of the JSON of the task, without braces. */
export function taskNotification (id: RequestId, members: string): string {
  const meta = JSON.stringify(subscriptionMeta(id))
  return toWellFormedJson(
    `{"jsonrpc":"2.0","method":"notifications/tasks","params":{${members},"_meta":${meta}}}`
  )
}

/** Names the `subscriptions/listen` request that a message belongs to. A number stays a number. */
export function subscriptionMeta (id: RequestId): { [META_SUBSCRIPTION_ID]: RequestId } {
  return { [META_SUBSCRIPTION_ID]: id }
}
