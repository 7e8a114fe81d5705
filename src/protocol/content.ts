// What a message is made of: content blocks, resource contents, and the metadata that rides on them.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock

export type Meta = { [key: string]: unknown }

export type Role = 'user' | 'assistant'

/** Hints for the client about who a piece of content is for and how much it matters (0 to 1). */
export interface Annotations {
  audience?: Role[]
  priority?: number
  /** ISO 8601. */
  lastModified?: string
}

export interface Icon {
  /** An https or data URI. */
  src: string
  mimeType?: string
  sizes?: string[]
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

export interface ResourceLink extends Block {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
  icons?: Icon[]
}

export interface TextResourceContents { uri: string, mimeType?: string, text: string, _meta?: Meta }

/** `blob` is base64. */
export interface BlobResourceContents { uri: string, mimeType?: string, blob: string, _meta?: Meta }

export type ResourceContents = TextResourceContents | BlobResourceContents

export interface EmbeddedResource extends Block { type: 'resource', resource: ResourceContents }

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

export interface PromptMessage { role: Role, content: ContentBlock }
