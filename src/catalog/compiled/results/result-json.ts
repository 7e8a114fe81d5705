// Writes results as JSON text, from members that are JSON already: nothing is serialised twice.

import { toWellFormedJson } from '../../../base/text.ts'
import type {
  ContentBlock, Meta, PromptMessage, ResourceContents
} from '../../../platform/protocol/content.ts'
import { META_SERVER_INFO } from '../../../platform/protocol/envelope.ts'
import type { CacheHints, Implementation } from '../../../platform/protocol/primitives.ts'

/** The output of a handler does not match its definition. An internal error: the log has the problems. */
export class ContractError extends Error {
  constructor (subject: string, problems: readonly string[]) {
    super(`${subject} ${problems.join('; ')}`)
    this.name = 'ContractError'
  }
}

/** Writes results as one revision of the protocol has them. */
export interface ResultWriter {
  /** @param members the result's own members as JSON, without braces, such as `"content":[]`. */
  write (members: string, meta?: Meta): string
  /** Writes a result that clients may cache. */
  writeCacheable (members: string, cache: CacheHints, meta?: Meta): string
  /** @param members `inputRequests`, `requestState` or both, as JSON without braces. */
  writeInputRequired (members: string): string
  /** @param members of the task, as JSON without braces. */
  writeTask (members: string): string
  /** Returns the blocks in the form that the revision has. */
  toContent (blocks: readonly ContentBlock[]): readonly ContentBlock[]
  toMessages (messages: readonly PromptMessage[]): readonly PromptMessage[]
  toContents (contents: readonly ResourceContents[]): readonly ResourceContents[]
  /** Whether the revision has such structured content. The text of the value is sent in any case. */
  mayBeStructuredContent (structuredContent: unknown): boolean
  /** The writer of the current revision, in whose form the results of tasks are kept. */
  readonly current: ResultWriter
  /** Returns the result of a tool as this revision has it. @param json as the current revision has it. */
  fromCurrent (json: string): string
}

/**
 * Creates the writer of the current revision. Every result says whether it is complete, and names the server.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
 *
 * @param info the name of the server in every result.
 */
export function createResultWriter (info: Implementation): ResultWriter {
  const identity = { [META_SERVER_INFO]: info }
  const identityJson = toWellFormedJson(JSON.stringify(identity))
  // `identity` comes last: a tool may pass on a result of another server, which has that server's name.
  const toMetaJson = (meta: Meta | undefined) =>
    meta === undefined ? identityJson : JSON.stringify({ ...meta, ...identity })
  const writer: ResultWriter = {
    write (members, meta) {
      return `{"resultType":"complete",${members}${members === '' ? '' : ','}"_meta":${toMetaJson(meta)}}`
    },
    writeCacheable (members, { ttlMs, cacheScope }, meta) {
      const cacheMembers = `"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`
      return `{"resultType":"complete",${members},${cacheMembers},"_meta":${toMetaJson(meta)}}`
    },
    writeInputRequired: (members) => `{"resultType":"input_required",${members},"_meta":${identityJson}}`,
    writeTask: (members) => `{"resultType":"task",${members},"_meta":${identityJson}}`,
    toContent: (blocks) => blocks,
    toMessages: (messages) => messages,
    toContents: (contents) => contents,
    mayBeStructuredContent: () => true,
    get current () { return writer },
    fromCurrent: (json) => json
  }
  return writer
}
