// Content blocks, resource contents and prompt messages, as the specification writes them.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock

/** The `_meta` member of any object. */
export type Meta = { readonly [key: string]: unknown }

export type Role = 'user' | 'assistant'

/**
 * Hints about a piece of content or a resource.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations
 */
export interface Annotations {
  /** The readers of the content. */
  audience?: readonly Role[]
  /** From 0 (least important) to 1 (most important). */
  priority?: number
  /** A date in ISO 8601, such as `2026-07-28T09:30:00Z`. */
  lastModified?: string
}

/**
 * An image that a client may show beside a name.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons
 */
export interface Icon {
  /** An http, https or data URI. */
  src: string
  /** Such as `image/png`. */
  mimeType?: string
  /** Such as `48x48`, or `any` for a scalable image. */
  sizes?: readonly string[]
  /** The background that the icon is made for. Any background by default. */
  theme?: 'light' | 'dark'
}

interface Block {
  annotations?: Annotations
  _meta?: Meta
}

export interface TextContent extends Block { type: 'text', text: string }

/** `data` is base64. */
export interface ImageContent extends Block { type: 'image', data: string, mimeType: string }

/** `data` is base64. */
export interface AudioContent extends Block { type: 'audio', data: string, mimeType: string }

/**
 * A resource that a client can read.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcelink
 */
export interface ResourceLink extends Block {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  /** Bytes, before any encoding. */
  size?: number
  icons?: readonly Icon[]
}

interface TextResourceContents { uri: string, mimeType?: string, text: string, _meta?: Meta }

/** `blob` is base64. */
interface BlobResourceContents { uri: string, mimeType?: string, blob: string, _meta?: Meta }

/**
 * The contents of one resource: `text`, or bytes as base64 in `blob`.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-contents
 */
export type ResourceContents = TextResourceContents | BlobResourceContents

/**
 * A resource with its contents.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#embeddedresource
 */
export interface EmbeddedResource extends Block { type: 'resource', resource: ResourceContents }

/**
 * One part of a result or of a message: text, an image, audio, a link to a resource, or a resource.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/**
 * One message of a prompt.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#promptmessage
 */
export interface PromptMessage { role: Role, content: ContentBlock }
