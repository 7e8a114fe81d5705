// The protocol revisions of the modern era. Discovery, the envelope check and the errors read this list.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

/**
 * `modern`: revision 2026-07-28 and later, where requests are independent. `legacy`: earlier revisions, where
 * a session begins with `initialize`.
 */
export type EraName = 'modern' | 'legacy'

export const CURRENT_REVISION = '2026-07-28'

/** The revisions that discovery names. A client puts one of them into each request. */
export const SUPPORTED_REVISIONS: readonly string[] = [CURRENT_REVISION]

export function isSupportedRevision (revision: string): boolean {
  return SUPPORTED_REVISIONS.includes(revision)
}
