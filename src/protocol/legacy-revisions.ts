// The revisions that open with a handshake. They are negotiated, and never named where the current ones are.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation

export const LATEST_LEGACY_REVISION = '2025-11-25'

const LEGACY_REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', LATEST_LEGACY_REVISION]

export function isLegacyRevision (revision: string): boolean {
  return LEGACY_REVISIONS.includes(revision)
}

/** What a client that asks for `requested` is offered. */
export function negotiate (requested: string): string {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY_REVISION
}
