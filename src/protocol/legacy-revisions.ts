// The revisions that begin with the `initialize` handshake, and their negotiation.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation

export const LATEST_LEGACY_REVISION = '2025-11-25'

const LEGACY_REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', LATEST_LEGACY_REVISION]

export function isLegacyRevision (revision: string): boolean {
  return LEGACY_REVISIONS.includes(revision)
}

/** The revision of a session: the requested one if it is supported, otherwise the latest. */
export function negotiate (requested: string): string {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY_REVISION
}
