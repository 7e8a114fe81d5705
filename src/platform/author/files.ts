// Large files: what a handler hands out by a link, and what its user uploads.

import type { Readable } from 'node:stream'
import type { ResourceLink } from '../protocol/content.ts'

/**
 * The bytes of a file: the path of a file (a text, or a `file:` URL), bytes, or a stream of bytes. A stream
 * is read as fast as it can be stored, and never held in memory as a whole.
 */
export type FileSource =
  string | URL | Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** What `ctx.files.put` says about a file. */
export interface PutOptions {
  /**
   * The name under which the file is saved, without a path. The last part of the path by default. Required
   * for bytes and streams. Cut after 200 characters.
   */
  readonly name?: string
  /** Such as `text/csv`. By default the type of the name's extension, or `application/octet-stream`. */
  readonly mimeType?: string
  /** How long the link works, in milliseconds, from 1000 to 30 days. One day by default. */
  readonly ttlMs?: number
}

/** What `ctx.files.upload` asks for. */
export interface UploadOptions {
  /** Says why the file is needed. The client and the page show it. At most 500 characters. */
  readonly message: string
  /** Names the question within the request, as the keys of `ctx.ask` do. `upload` by default. */
  readonly key?: string
  /**
   * The types that may come, at most 20: media types (`application/pdf`), ranges (`image/*`) and extensions
   * (`.csv`). All by default. The type is the browser's, or that of the extension: the bytes are not checked.
   */
  readonly accept?: readonly string[]
  /** The largest file, in bytes. At most `TRIVET_MAX_FILE_BYTES`, which is the default. */
  readonly maxBytes?: number
  /** How long the file is kept after it came, in milliseconds, from 1000 to 30 days. One day by default. */
  readonly ttlMs?: number
}

/** A file that a user has uploaded. */
export interface UploadedFile {
  /** The name that the browser sent, without a path. Not unique, and chosen by the user: no path. */
  readonly name: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
  /** The bytes, from the first on at each call. The stream fails once the file has expired. */
  stream (): Readable
}

/**
 * The answer to `ctx.files.upload`: the file, or that the user declined or cancelled. An upload whose link
 * expired before a file came is cancelled.
 */
export type UploadAnswer =
  ({ readonly action: 'accept' } & UploadedFile) |
  { readonly action: 'decline' } | { readonly action: 'cancel' }

/** Hands out large files, and takes them from the user. `TRIVET_FILES_URL` says where they are kept. */
export interface Files {
  /**
   * Keeps a file, and resolves to a content block that links to it: `uri`, `name`, `mimeType` and `size`. The
   * link is an https URL below `TRIVET_PUBLIC_URL`, which every replica serves until `ttlMs` has passed. A
   * request with another caller's access token gets 404. A request without a token is served: who has the
   * link has the file, unless `TRIVET_FILES_TOKEN` is `required`.
   *
   * Rejects with a ToolError, and keeps nothing, if the file is larger than `TRIVET_MAX_FILE_BYTES`, if the
   * caller's files take `TRIVET_MAX_FILE_BYTES_PER_CALLER`, if the storage fails, or for a name, a type or a
   * lifetime that is not allowed: a model may have chosen it. Rejects with a TypeError for values of another
   * type, and with an Error that names the setting if the service does not know its public URL or where to
   * keep files. A handler that asks its user runs again: call `put` in `ctx.once`. Never pass a path that a
   * model chose.
   * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#resource-links
   *
   * @example return { content: [await ctx.files.put(rows, { name: 'orders.csv' })] }
   */
  put (source: FileSource, options?: PutOptions): Promise<ResourceLink>
  /**
   * Asks the user for a file. The client shows a URL, where a page of the service takes one file, once. The
   * answer is like that of `ctx.ask` with `elicit.url`: the handler ends, and runs again from its first line.
   * After `accept`, `upload` waits up to 45 seconds for the file, which do not count for the time limit, and
   * then asks again. The link works for `TRIVET_REQUEST_STATE_TTL_MS`.
   *
   * Rejects as `ctx.ask` does: do not catch that. The client must declare `elicitation.url`. Rejects as `put`
   * does for options and settings.
   * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
   *
   * @example
   * const file = await ctx.files.upload({ message: 'The statement to check', accept: ['.csv'] })
   * if (file.action !== 'accept') return 'Nothing was checked.'
   * for await (const chunk of file.stream()) hash.update(chunk)
   */
  upload (options: UploadOptions): Promise<UploadAnswer>
}
