// The protocol revisions, and the features of each on the wire, one predicate each. Code that writes the wire
// asks the predicates; handlers do not know revisions.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

/**
 * `modern`: revision 2026-07-28 and later, where requests are independent. `legacy`: earlier revisions, where
 * a session begins with `initialize`.
 */
export type EraName = 'modern' | 'legacy'

export const CURRENT_REVISION = '2026-07-28'

/** The revisions of the modern era, which discovery names. A client puts one of them into each request. */
export const SUPPORTED_REVISIONS: readonly string[] = [CURRENT_REVISION]

export function isSupportedRevision (revision: string): boolean {
  return SUPPORTED_REVISIONS.includes(revision)
}

/** The latest revision that begins with the `initialize` handshake. */
export const LATEST_LEGACY_REVISION = '2025-11-25'

const LEGACY_REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', LATEST_LEGACY_REVISION]

export function isLegacyRevision (revision: string): boolean {
  return LEGACY_REVISIONS.includes(revision)
}

/**
 * Returns the revision of a session: the requested one if it is supported, otherwise the latest.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
 */
export function negotiate (requested: string): string {
  return isLegacyRevision(requested) ? requested : LATEST_LEGACY_REVISION
}

type Feature = (revision: string) => boolean

/** Dates in this form sort as text. */
const since = (first: string): Feature => (revision) => revision >= first

export const hasToolAnnotations = since('2025-03-26')
export const hasAudio = since('2025-03-26')
/** A `message` beside the numbers of `notifications/progress`. */
export const hasProgressMessage = since('2025-03-26')
export const hasCompletionsCapability = since('2025-03-26')

/** Several messages in one array. Only one revision has them. */
export const hasBatches: Feature = (revision) => revision === '2025-03-26'

export const hasTitles = since('2025-06-18')
export const hasStructuredContent = since('2025-06-18')
export const hasResourceLinks = since('2025-06-18')
export const hasElicitation = since('2025-06-18')
/** `lastModified` in annotations. */
export const hasLastModified = since('2025-06-18')
/** `_meta` on definitions, contents and content blocks. */
export const hasMetaOnParts = since('2025-06-18')

export const hasIcons = since('2025-11-25')
/** `description` and `websiteUrl` of an implementation. */
export const hasDescribedImplementations = since('2025-11-25')
/** `mode` in an elicitation, elicitation by URL, defaults for every field, titled and multiple choices. */
export const hasElicitationModes = since('2025-11-25')
/** Sampling with tools, and several content blocks in one message. */
export const hasSamplingTools = since('2025-11-25')
/** The server sends a first event with an id, and may close the stream: the client then reconnects. */
export const hasStreamPolling = since('2025-11-25')

/** The extension io.modelcontextprotocol/tasks. Earlier tasks, of 2025-11-25, are another feature. */
export const hasTasks = since('2026-07-28')
/** The extension io.modelcontextprotocol/skills. */
export const hasSkills = since('2026-07-28')
