// The dated protocol versions that this service speaks: the one list that discovery and errors both read.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

export const CURRENT_REVISION = '2026-07-28'

export const SUPPORTED_REVISIONS: readonly string[] = [CURRENT_REVISION]

export function isSupportedRevision (revision: string): boolean {
  return SUPPORTED_REVISIONS.includes(revision)
}
