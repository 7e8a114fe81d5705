// Tools, prompts, resources and templates as the list methods show them.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#tool

import type { Annotations, Icon, Meta } from './content.ts'

interface Primitive {
  name: string
  title?: string
  description?: string
  icons?: Icon[]
  _meta?: Meta
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/** Hints about a tool's behaviour; a client must not trust them from an untrusted server. */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

export interface Tool extends Primitive {
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: ToolAnnotations
}

export interface PromptArgument {
  name: string
  title?: string
  description?: string
  required?: boolean
}

export interface Prompt extends Primitive {
  arguments?: PromptArgument[]
}

export interface Resource extends Primitive {
  uri: string
  mimeType?: string
  annotations?: Annotations
  /** Bytes, before any encoding. */
  size?: number
}

export interface ResourceTemplate extends Primitive {
  /** RFC 6570. */
  uriTemplate: string
  mimeType?: string
  annotations?: Annotations
}

/** Who made a client or a server. */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: Icon[]
}

export type CacheScope = 'public' | 'private'

/** How long, and for whom, a result may be kept. https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching */
export interface CacheHints {
  ttlMs: number
  cacheScope: CacheScope
}

/** Safe when nobody decided. */
export const UNCACHED: CacheHints = { ttlMs: 0, cacheScope: 'private' }
