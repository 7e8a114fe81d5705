// What a revision has on the wire, and what it lacks: asked where something is put there, and nowhere else.
// Dates in this form sort as text.

type Feature = (revision: string) => boolean

const since = (first: string): Feature => (revision) => revision >= first

/** Hints about a tool's behaviour; audio among the content; words beside the figures of progress; the capability `completions`. */
export const hasToolAnnotations = since('2025-03-26')
export const hasAudio = since('2025-03-26')
export const hasProgressMessage = since('2025-03-26')
export const hasCompletionsCapability = since('2025-03-26')

/** Requests and notifications in arrays: one revision alone. */
export const hasBatches: Feature = (revision) => revision === '2025-03-26'

export const hasTitles = since('2025-06-18')
export const hasStructuredContent = since('2025-06-18')
export const hasResourceLinks = since('2025-06-18')
export const hasElicitation = since('2025-06-18')
export const hasLastModified = since('2025-06-18')
/** `_meta` on definitions, contents and content blocks. */
export const hasMetaOnParts = since('2025-06-18')

export const hasIcons = since('2025-11-25')
/** Who made a server: `description` and `websiteUrl`. */
export const hasDescribedImplementations = since('2025-11-25')
/** Forms with defaults for all fields and the titled and multiple choices; questions that name their mode; questions by URL. */
export const hasElicitationModes = since('2025-11-25')
/** Sampling with tools, and with more than one block in a message. */
export const hasSamplingTools = since('2025-11-25')
/** A stream begins with an event of its own, and the server may close it to be asked again. */
export const hasStreamPolling = since('2025-11-25')
/** Arguments that a tool's schema refuses are a result that the model reads, and not an error of the protocol. */
export const hasArgumentErrorResults = since('2025-11-25')
