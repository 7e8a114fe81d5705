// Defines a resource, or a template for a family of resources.

import type { Annotations, Meta, ResourceContents } from '../protocol/content.ts'
import type { CacheHints } from '../protocol/primitives.ts'
import type { CommonOptions } from './common-options.ts'
import type { CompletionSource } from './completion.ts'
import type { Context, ReadContext } from './context.ts'
import { define, type Definition } from './definition.ts'

/** The contents of one resource. Bytes in `blob` are sent as base64. */
export type OutputContents =
  ResourceContents | (Omit<Extract<ResourceContents, { blob: string }>, 'blob'> & { blob: Uint8Array })

/**
 * What `read` returns: a string (text), bytes (sent as base64), or contents as the specification writes them.
 * `{ contents, _meta }` also has `_meta` for the client. `undefined`: the resource does not exist, and the
 * client receives error -32602.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-contents
 */
export type ResourceOutput =
  string | Uint8Array | OutputContents | readonly OutputContents[] |
  { contents: readonly OutputContents[], _meta?: Meta } | undefined

interface CommonResourceOptions extends CommonOptions {
  /**
   * Such as `text/markdown`. By default `text/plain` for a string and `application/octet-stream` for bytes.
   */
  mimeType?: string
  annotations?: Annotations
  /**
   * How long a client may keep the contents, in milliseconds (`ttlMs`), and for whom (`cacheScope`). By
   * default `readTtlMs` of server.yaml, which is 0, and `private`. `public` is refused for a definition with
   * `scopes`.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
   */
  cache?: Partial<CacheHints>
}

/** What `defineResource` takes. */
export interface ResourceOptions extends CommonResourceOptions {
  /** An absolute URI (RFC 3986), unique in the catalog. */
  uri: string
  /** The size of the contents in bytes, before any encoding. */
  size?: number
  /**
   * Reads the resource. The client receives the message of a ToolError as a JSON-RPC error. For a HandleError
   * it receives error -32602: the resource does not exist. Anything else that `read` throws is an internal
   * error.
   */
  read (ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

/** A resource, made by `defineResource`. */
export type ResourceDefinition = Definition & ResourceOptions

/**
 * Defines a resource: contents that a client reads under a fixed URI. Export the definition from a module in
 * resources/ whose name ends in `.resource.ts`.
 *
 * A definition that is not valid keeps the catalog from loading, with the file and the field in the log.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 *
 * @example
 * export default defineResource({
 *   uri: 'shop://hours', name: 'hours', mimeType: 'text/plain', read: () => 'Mon to Sat, 9 to 18'
 * })
 */
export function defineResource (options: ResourceOptions): ResourceDefinition {
  return define('resource', options)
}

/**
 * The variables of a URI template by name. `undefined`: the URI leaves the variable out. A list: the variable
 * is exploded (`{path*}`).
 */
export type TemplateVariables = { readonly [name: string]: string | readonly string[] | undefined }

/**
 * One resource of a template in `resources/list`, named by its URI or by the variables that make the URI. The
 * template must match the URI, and read the same variables from it: a client reads what it was shown.
 *
 * Its `scopes` are needed in addition to those of the template, to see it and to read it. `whenMissing` is
 * that of the template by default, and cannot be `challenge` for a template that is hidden. They hold for
 * exactly this URI, however it is encoded, while it is listed: where the URI can have other forms, such as an
 * optional `{?page}`, and where a resource can be read before it is listed, check in `read` too.
 */
export type ListedResource =
  Omit<ResourceOptions, 'read' | 'uri' | 'cache' | 'audit' | 'timeoutMs' | 'order' | 'upstreams'> &
  ({ uri: string } | { variables: TemplateVariables })

/** The variables of one expression of a template: its operator decides whether they may be left out. */
type ExpressionVariables<E extends string> =
  E extends `${'?' | '&' | '/' | '.' | ';' | '#'}${infer Names}` ? Partial<NamedVariables<Names>>
    : E extends `+${infer Names}` ? NamedVariables<Names> : NamedVariables<E>

type NamedVariables<Names extends string> =
  Names extends `${infer First},${infer Rest}` ? NamedVariables<First> & NamedVariables<Rest>
    : Names extends `${infer Name}*` ? { readonly [N in Name]: readonly string[] }
      : Names extends `${infer Name}:${number}` ? { readonly [N in Name]: string }
        : { readonly [N in Names]: string }

type ParsedVariables<U extends string> =
  U extends `${string}{${infer E}}${infer Rest}` ? ExpressionVariables<E> & ParsedVariables<Rest> : unknown

/** The type of a template's variables, taken from the text of the template. */
export type VariablesOf<U extends string> = string extends U ? TemplateVariables : ParsedVariables<U>

/**
 * What the `list` of a template may use. It acts for no caller: `fetch` fails with `credential` for an
 * upstream that must know one.
 */
export interface ListContext extends Pick<Context, 'settings' | 'use' | 'fetch'> {
  /** Aborts when the time for the list is over. */
  readonly signal: AbortSignal
}

/** What `defineResourceTemplate` takes. */
export interface ResourceTemplateOptions<U extends string = string> extends CommonResourceOptions {
  /**
   * A URI template (RFC 6570), such as `book://{id}` or `shop://orders{?status,page}`. Unique in the catalog.
   *
   * A variable of `{id}` or `{+path}` has at least one character. The variables of other expressions may be
   * empty, or be left out.
   */
  uriTemplate: U
  /** Suggestions for the variables, by name. None by default. */
  complete?: { readonly [variable: string]: CompletionSource }
  /**
   * The resources of the template that `resources/list` shows to all callers, at most 100,000; an entry may
   * have `scopes`. Called when the catalog loads, for each `ctx.notify.listChanged('resources')`, and as
   * `listTtlMs` says. It may take 30 seconds: `signal` aborts then. None by default.
   *
   * A problem of the list keeps the catalog from loading. Later the problem is logged, and the list from
   * before is served. `trivet check`, `list` and `diff` open no dependency: there a list that uses one is
   * empty.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/resources#listing-resources
   *
   * @example list: async ({ signal }) => (await notes.all({ signal })).map(({ id, title }) => {
   *   return { variables: { id }, name: id, title }
   * })
   */
  list? (ctx: ListContext): readonly ListedResource[] | Promise<readonly ListedResource[]>
  /**
   * How old the list may become, in milliseconds, at least 1,000. The first request for the list after that
   * gets the old one, and all replicas call `list` in the background. Clients are told if the list differs
   * then. By default the list does not age.
   */
  listTtlMs?: number
  /**
   * Reads the resource of these variables. The variables are percent-decoded and may hold any text, also
   * `../`: check a variable before you use it as a path. Errors are handled as in `ResourceOptions`.
   */
  read (variables: VariablesOf<U>, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput>
}

/** A resource template, made by `defineResourceTemplate`. */
export type ResourceTemplateDefinition = Definition & ResourceTemplateOptions

/**
 * Defines a family of resources by a template for their URIs. The variables of `read` are typed from the
 * template. Export the definition from a module in resources/ whose name ends in `.resource.ts`. Where
 * several templates match a URI, the service uses the one with the most fixed characters.
 *
 * A definition that is not valid keeps the catalog from loading, with the file and the field in the log.
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
export function defineResourceTemplate<const U extends string> (
  options: ResourceTemplateOptions<U>
): ResourceTemplateDefinition {
  // The service matches the URI against the template before it calls `read`: the variables' types then hold.
  return define('resource-template', options) as unknown as ResourceTemplateDefinition
}
