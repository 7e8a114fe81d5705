// Results as JSON text, put together from parts that are serialised once.

import { META_SERVER_INFO } from '../protocol/meta-keys.ts'
import type { ContentBlock, Meta, PromptMessage, ResourceContents } from '../protocol/content.ts'
import type { CacheHints, Implementation } from '../protocol/primitives.ts'

/** A handler broke its own contract: an internal error, with the details in the log. */
export class ContractError extends Error {
  constructor (what: string, problems: readonly string[]) {
    super(`${what} ${problems.join('; ')}`)
    this.name = 'ContractError'
  }
}

/** How a revision of the protocol puts its results. */
export interface ResultWriter {
  /** @param members the result's own members as JSON, without braces, such as `"content":[]`. */
  write (members: string, meta?: Meta): string
  /** A result that clients may keep. */
  writeCacheable (members: string, cache: CacheHints): string
  /** @param members what the client must answer first: `inputRequests`, `requestState` or both. */
  writeInputRequired (members: string): string
  /** The blocks as far as the revision has them. */
  toContent (blocks: readonly ContentBlock[]): readonly ContentBlock[]
  toMessages (messages: readonly PromptMessage[]): readonly PromptMessage[]
  toContents (contents: readonly ResourceContents[]): readonly ResourceContents[]
  /** Whether the value may go out as structured content. Its text goes out in any case. */
  mayBeStructuredContent (structuredContent: unknown): boolean
}

/**
 * Every result says whether it is complete and who made it.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
 *
 * @param info goes with every result that this writer writes.
 */
export function createResultWriter (info: Implementation): ResultWriter {
  const identity = { [META_SERVER_INFO]: info }
  const ready = JSON.stringify(identity)
  return {
    write (members, meta) {
      // Last, so that a result that a tool passes on from another server does not pass for that server's.
      const ownMeta = meta === undefined ? ready : JSON.stringify({ ...meta, ...identity })
      return `{"resultType":"complete",${members}${members === '' ? '' : ','}"_meta":${ownMeta}}`
    },
    writeCacheable: (members, { ttlMs, cacheScope }) =>
      `{"resultType":"complete",${members},"ttlMs":${ttlMs},"cacheScope":"${cacheScope}","_meta":${ready}}`,
    writeInputRequired: (members) => `{"resultType":"input_required",${members},"_meta":${ready}}`,
    toContent: (blocks) => blocks,
    toMessages: (messages) => messages,
    toContents: (contents) => contents,
    mayBeStructuredContent: () => true
  }
}
