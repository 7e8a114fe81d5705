// How handlers call an upstream.

/** The values of a query. `undefined` leaves its name out. A list repeats its name. */
export type UpstreamQuery = {
  readonly [name: string]: string | number | boolean | undefined | ReadonlyArray<string | number | boolean>
}

/** What a call of an upstream may say. */
export interface UpstreamInit {
  /** `GET` by default. */
  readonly method?: string
  /**
   * Headers of the call. A TypeError for those that the upstream's `auth` sets, and for those of the
   * connection, such as `host`, `content-length` and `transfer-encoding`.
   */
  readonly headers?: Headers | { readonly [name: string]: string | undefined }
  /**
   * The body: a text, bytes, a form or a file. It is held in memory, so that the call can be sent again.
   * `URLSearchParams`, `FormData` and a `Blob` with a type set `content-type`, unless `headers` has it.
   */
  readonly body?: string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | Blob | null
  /** A value that is sent as JSON, with `content-type: application/json`. Not together with `body`. */
  readonly json?: unknown
  /**
   * The query, encoded. It is added to a query that the path has. Path and query have at most 8,192
   * characters together.
   */
  readonly query?: UpstreamQuery | URLSearchParams
  /**
   * The media types that the handler can read, such as `application/json` or `['text/csv', 'text/*']`. They
   * become the header `accept`. An answer with a status from 200 to 299 and another type is an error,
   * `wrong_type`, unless it has no content. Any type by default.
   */
  readonly accept?: string | readonly string[]
  /**
   * The time of this call, in milliseconds, at most `limits.timeoutMs` of the upstream, which is the default.
   */
  readonly timeoutMs?: number
  /** Ends the call when it aborts, beside the signal of the request: that of `ctx.step`, for example. */
  readonly signal?: AbortSignal | null
}
