import type { Annotations, ResourceContents } from '../protocol/content.ts'
import type { CacheHints } from '../protocol/primitives.ts'
import type { CompletionSource } from './completion.ts'
import type { ReadContext } from './context.ts'
import { define, type CommonOptions, type Definition } from './definition.ts'

/** A string is text, bytes are sent as base64. `undefined`: there is no such resource. */
export type ResourceOutput = string | Uint8Array | ResourceContents | readonly ResourceContents[] | { contents: readonly ResourceContents[] } | undefined

interface CommonResourceOptions extends CommonOptions {
  /** Such as `text/markdown`. Without it `text/plain` for strings, `application/octet-stream` for bytes. */
  mimeType?: string
  annotations?: Annotations
  /**
   * How long a client may keep what was read, in milliseconds, and whether it may share it between callers.
   * Not at all by default. `public` is refused where `scopes` decide who may read.
   */
  cache?: Partial<CacheHints>
}

export interface ResourceOptions extends CommonResourceOptions {
  /** An absolute URI (RFC 3986). */
  uri: string
  /** Bytes, where it is known. */
  size?: number
  read (ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

export type ResourceDefinition = Definition & ResourceOptions

/**
 * Defines a resource: something that a client can read under a fixed URI.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 *
 * @example
 * export default defineResource({ uri: 'shop://hours', name: 'hours', mimeType: 'text/plain', read: () => 'Mon to Sat, 9 to 18' })
 */
export function defineResource (options: ResourceOptions): ResourceDefinition {
  return define('resource', options)
}

/** The variables of a URI template, by name. One that the URI leaves out is `undefined`; an exploded one is a list. */
export type TemplateVariables = { readonly [name: string]: string | readonly string[] | undefined }

/** A concrete resource of a template, for `resources/list`: by its URI, or by the variables that make it. */
export type ListedResource = Omit<ResourceOptions, 'read' | 'uri' | 'cache' | 'scopes' | 'order'> & ({ uri: string } | { variables: { [name: string]: string | string[] } })

export interface ResourceTemplateOptions extends CommonResourceOptions {
  /** RFC 6570, such as `book://{id}` or `shop://orders{?status,page}`. */
  uriTemplate: string
  /** Suggestions for the variables, by name. */
  complete?: { readonly [variable: string]: CompletionSource }
  /** Resources to show in `resources/list`. Called when the catalog loads. */
  list? (): readonly ListedResource[] | Promise<readonly ListedResource[]>
  /**
   * Reads the resource of these variables. They are percent-decoded and may hold anything, `../` too: check a path.
   * `undefined`: there is no such resource.
   */
  read (variables: TemplateVariables, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

export type ResourceTemplateDefinition = Definition & ResourceTemplateOptions

/**
 * Defines a family of resources by the form of their URIs.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 *
 * @example
 * export default defineResourceTemplate({
 *   uriTemplate: 'book://{id}',
 *   name: 'book',
 *   mimeType: 'application/json',
 *   complete: { id: books.map((book) => book.id) },
 *   read: ({ id }) => JSON.stringify(books.find((book) => book.id === id))
 * })
 */
export function defineResourceTemplate (options: ResourceTemplateOptions): ResourceTemplateDefinition {
  return define('resource-template', options)
}
