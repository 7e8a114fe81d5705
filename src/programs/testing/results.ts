// What a test gets: results as the client receives them, and the messages before them.

import type { Completion } from '../../platform/protocol/completion.ts'
import type { ContentBlock, Meta, PromptMessage, ResourceContents } from '../../platform/protocol/content.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { LogLevel } from '../../platform/protocol/log-levels.ts'
import type { Progress } from '../../platform/protocol/notifications.ts'
import type { Prompt, Resource, ResourceTemplate, Tool } from '../../platform/protocol/primitives.ts'
import type { Skill } from '../../platform/protocol/skills.ts'

/**
 * A message of `ctx.log`.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
export interface LogMessage {
  readonly level: LogLevel
  readonly message: string
  /** Absent if the handler gave none, or if it is not JSON. */
  readonly data?: { readonly [key: string]: unknown }
}

/**
 * A change that the handler announced with `ctx.notify.resourceUpdated`.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
 */
export interface ResourceChange {
  readonly uri: string
  /** Whether only subscribers that act for the same principal are told. */
  readonly private: boolean
}

/** What the handler reported during its request, in order. All rounds of questions count. */
export interface Reported {
  /**
   * The messages of `ctx.progress`, without those that the service drops because `done` did not increase.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
   */
  readonly progress: readonly Progress[]
  readonly logs: readonly LogMessage[]
  readonly changes: readonly ResourceChange[]
}

/**
 * The result of a tool. `T` is the type that the test expects of the structured content: it is not checked.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export interface CallResult<T = unknown> extends Reported {
  readonly content: readonly ContentBlock[]
  /** Absent if the tool returned none, and usually in a tool error. */
  readonly structuredContent: T
  /** Whether the call ended with a tool error, which the model reads. */
  readonly isError: boolean
  /** The texts of the text blocks, joined by line ends. */
  readonly text: string
  readonly _meta?: Meta
}

/** https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt */
export interface PromptResult extends Reported {
  readonly messages: readonly PromptMessage[]
  readonly description?: string
  /** The texts of the messages, joined by line ends. */
  readonly text: string
  readonly _meta?: Meta
}

/** https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources */
export interface ReadResult extends Reported {
  readonly contents: readonly ResourceContents[]
  /** The texts of the contents, joined by line ends. */
  readonly text: string
  readonly _meta?: Meta
}

/** What one caller sees of the catalog: all pages of each list, in the order of the service. */
export interface CatalogLists {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
  /** Their files are among the resources. */
  readonly skills: readonly Skill[]
}

/** The results as JSON has them. */
export interface ResultsJson {
  'tools/call': { content: ContentBlock[], structuredContent?: unknown, isError?: boolean, _meta?: Meta }
  'prompts/get': { messages: PromptMessage[], description?: string, _meta?: Meta }
  'resources/read': { contents: ResourceContents[], _meta?: Meta }
  'completion/complete': { completion: Completion }
  'tools/list': { tools: Tool[], nextCursor?: string }
  'prompts/list': { prompts: Prompt[], nextCursor?: string }
  'resources/list': { resources: Resource[], nextCursor?: string }
  'resources/templates/list': { resourceTemplates: ResourceTemplate[], nextCursor?: string }
  'skills/list': { skills: Skill[], nextCursor?: string }
}

type HandlerNotification =
  | { readonly method: 'notifications/progress', readonly params: Progress & { progressToken: unknown } }
  | { readonly method: 'notifications/message', readonly params: { level: LogLevel, data: unknown } }

/** Collects what a handler reports during its request. */
export class HandlerReport implements Reported {
  readonly progress: Progress[] = []
  readonly logs: LogMessage[] = []
  readonly changes: ResourceChange[] = []

  addNotification (json: string): void {
    const notification: HandlerNotification = JSON.parse(json)
    if (notification.method === 'notifications/progress') {
      const { progressToken, ...progress } = notification.params
      // A handler that runs again after an answer begins again too. The call goes on.
      if (progress.progress > (this.progress.at(-1)?.progress ?? -Infinity)) this.progress.push(progress)
    } else this.logs.push(toLogMessage(notification.params))
  }

  addChange ({ uri, owner }: { readonly uri: string, readonly owner?: string }): void {
    this.changes.push({ uri, private: owner !== undefined })
  }
}

/** A message with data is an object, and one without is a text. */
function toLogMessage ({ level, data }: { readonly level: LogLevel, readonly data: unknown }): LogMessage {
  if (!isObject(data)) return { level, message: String(data) }
  const { message, ...members } = data
  return { level, message: String(message), data: members }
}
