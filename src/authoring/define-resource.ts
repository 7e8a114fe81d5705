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

/** What the variables of one expression are, by its operator and their names. */
type ExpressionVariables<E extends string> =
  E extends `${'?' | '&' | '/' | '.' | ';' | '#'}${infer Names}` ? Partial<NamedVariables<Names>>
    : E extends `+${infer Names}` ? NamedVariables<Names> : NamedVariables<E>

type NamedVariables<Names extends string> =
  Names extends `${infer First},${infer Rest}` ? NamedVariables<First> & NamedVariables<Rest>
    : Names extends `${infer Name}*` ? { readonly [N in Name]: readonly string[] } : { readonly [N in Names]: string }

type ParsedVariables<U extends string> = U extends `${string}{${infer E}}${infer Rest}` ? ExpressionVariables<E> & ParsedVariables<Rest> : unknown

/** The variables of a template, typed from its text. */
export type VariablesOf<U extends string> = string extends U ? TemplateVariables : ParsedVariables<U>

export interface ResourceTemplateOptions<U extends string = string> extends CommonResourceOptions {
  /** RFC 6570, such as `book://{id}` or `shop://orders{?status,page}`. */
  uriTemplate: U
  /** Suggestions for the variables, by name. */
  complete?: { readonly [variable: string]: CompletionSource }
  /** Resources to show in `resources/list`. Called when the catalog loads. */
  list? (): readonly ListedResource[] | Promise<readonly ListedResource[]>
  /**
   * Reads the resource of these variables. They are percent-decoded and may hold anything, `../` too: check a path.
   * `undefined`: there is no such resource.
   */
  read (variables: VariablesOf<U>, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
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
 *   read ({ id }) {
 *     const book = findBook(id)
 *     return book && JSON.stringify(book)
 *   }
 * })
 */
export function defineResourceTemplate<const U extends string> (options: ResourceTemplateOptions<U>): ResourceTemplateDefinition {
  // The template has made sure of the variables' types by the time that `read` is called.
  return define('resource-template', options) as unknown as ResourceTemplateDefinition
}
