// Results as JSON text, put together from parts that are serialised once.

import { META_SERVER_INFO } from '../protocol/meta-keys.ts'
import type { Meta } from '../protocol/content.ts'
import type { CacheHints, Implementation } from '../protocol/primitives.ts'

/** A handler broke its own contract: an internal error, with the details in the log. */
export class ContractError extends Error {
  constructor (what: string, problems: readonly string[]) {
    super(`${what} ${problems.join('; ')}`)
    this.name = 'ContractError'
  }
}

export interface ResultWriter {
  /** @param members the result's own members as JSON, without braces, such as `"content":[]`. */
  write (members: string, meta?: Meta): string
}

/** Every result says that it is complete and who made it. https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta */
export function createResultWriter (info: Implementation): ResultWriter {
  // Its name and version: the rest is told once, by discovery, and not with every answer.
  const identity = { [META_SERVER_INFO]: { name: info.name, version: info.version } }
  const ready = JSON.stringify(identity)
  return {
    write (members, meta) {
      const ownMeta = meta === undefined ? ready : JSON.stringify({ ...identity, ...meta })
      return `{"resultType":"complete",${members}${members === '' ? '' : ','}"_meta":${ownMeta}}`
    }
  }
}

export function cacheMembers ({ ttlMs, cacheScope }: CacheHints): string {
  return `"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`
}
