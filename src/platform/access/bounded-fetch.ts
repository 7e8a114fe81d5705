// Requests to authorization servers. They are trusted, but may be slow, broken or hijacked.

import { signalAfter } from '../../base/deadline.ts'

/** What the libraries ask of `fetch`. */
export interface FetchInit {
  readonly method?: string | undefined
  readonly headers?: Headers | Record<string, string> | undefined
  readonly body?: URLSearchParams | undefined
}

export type Fetch = (url: string, init: FetchInit) => Promise<Response>

export interface FetchLimits {
  /** For the whole answer, in milliseconds. */
  readonly timeoutMs: number
  /** For the body, after decompression. */
  readonly maxBytes: number
}

export const FETCH_LIMITS: FetchLimits = { timeoutMs: 5000, maxBytes: 512 * 1024 }

const KEPT_HEADERS = ['content-type', 'retry-after']

/** Resolves once the whole body is read. A redirect is an answer as others: it could lead anywhere. */
export function createBoundedFetch ({ timeoutMs, maxBytes }: FetchLimits): Fetch {
  return async (url, { method = 'GET', headers: requestHeaders = {}, body: form = null }) => {
    const response = await fetch(url, {
      method, headers: requestHeaders, body: form, redirect: 'manual', signal: signalAfter(timeoutMs)
    })
    const body = await readBounded(`the answer of ${response.url}`, response.body ?? [], maxBytes)
    const headers = [...response.headers].filter(([name]) => KEPT_HEADERS.includes(name))
    return new Response(body.length === 0 ? null : body, { status: response.status, headers })
  }
}

/** Rejects for a body of more bytes. @param name of the body, for the error. */
export async function readBounded (
  name: string, body: AsyncIterable<Uint8Array> | readonly Uint8Array[], maxBytes: number
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early cancels the rest of the body.
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`${name} has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
