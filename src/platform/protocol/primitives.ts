// Tools, prompts, resources and templates as the list methods show them.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#tool

import type { Annotations, Icon, Meta } from './content.ts'

interface Primitive {
  name: string
  title?: string
  description?: string
  icons?: readonly Icon[]
  _meta?: Meta
}

export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * Hints about a tool's behaviour. A client must not trust the hints of a server that it does not trust.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations
 */
export interface ToolAnnotations {
  title?: string
  /** The tool changes nothing. `false` by default. */
  readOnlyHint?: boolean
  /** The tool may delete or overwrite something. `true` by default. */
  destructiveHint?: boolean
  /** A second call with the same arguments has no further effect. `false` by default. */
  idempotentHint?: boolean
  /** The tool reaches systems outside the service, such as the web. `true` by default. */
  openWorldHint?: boolean
}

export interface Tool extends Primitive {
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: ToolAnnotations
}

interface PromptArgument {
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
  /** In the syntax of RFC 6570. */
  uriTemplate: string
  mimeType?: string
  annotations?: Annotations
}

/** The software of a client or a server. */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: readonly Icon[]
}

/** `private`: a cache serves the result only to the caller that requested it. `public`: to every caller. */
export type CacheScope = 'public' | 'private'

/** https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching */
export interface CacheHints {
  /** How long a result stays fresh, in milliseconds. */
  ttlMs: number
  cacheScope: CacheScope
}

/** The default: safe for every result. */
export const UNCACHED: CacheHints = { ttlMs: 0, cacheScope: 'private' }
