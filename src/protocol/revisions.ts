// The dated protocol versions that this service speaks: the one list that discovery, negotiation and errors read.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

/** `modern` since 2026-07-28: each request stands for itself. `legacy` before it: sessions that begin with `initialize`. */
export type EraName = 'modern' | 'legacy'

export const CURRENT_REVISION = '2026-07-28'

/** Those that discovery names: each request carries its revision with it. */
export const SUPPORTED_REVISIONS: readonly string[] = [CURRENT_REVISION]

export function isSupportedRevision (revision: string): boolean {
  return SUPPORTED_REVISIONS.includes(revision)
}
