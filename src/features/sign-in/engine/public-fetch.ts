// Fetches what strangers name: over https, from no private address, within bounds.

import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { signalAfter } from '../../../base/deadline.ts'
import { isReachable } from '../../../base/addresses.ts'
import { readBounded } from '../../../platform/access/bounded-fetch.ts'
import {
  AddressRefused, createCheckedLookup, type ResolveHost
} from '../../../platform/access/checked-lookup.ts'

/** For tests, whose servers are on this machine. */
export interface PublicFetchOptions {
  readonly allowPrivate?: boolean
  readonly resolveHost?: ResolveHost
  readonly ca?: string
}

/** Resolves to an answer with the status 200, and rejects for all others: redirects are not followed. */
export type PublicFetch = (url: string) => Promise<Response>

/** For the whole answer, in milliseconds. The engine gives up after 2.5 s. */
const TIMEOUT_MS = 2000
const MAX_BYTES = 32 * 1024
const KEPT_HEADERS = ['cache-control', 'expires'] as const

export function createPublicFetch (
  { allowPrivate = false, resolveHost, ca }: PublicFetchOptions = {}
): PublicFetch {
  const lookup = createCheckedLookup(allowPrivate, resolveHost)
  const headers = { accept: 'application/json', 'user-agent': 'trivet' }
  return async (text) => {
    const url = new URL(text)
    // A host that is an address is not looked up.
    if (!isReachable(url.hostname, allowPrivate)) throw new AddressRefused(`the address ${url.hostname}`)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { lookup, headers, agent: false, signal: signalAfter(TIMEOUT_MS), ca })
        .once('response', resolve).on('error', reject)
    })
    if (answer.statusCode !== 200) {
      answer.destroy()
      throw new Error(`status ${answer.statusCode ?? 0}`)
    }
    const body = await readBounded('the answer', answer, MAX_BYTES)
    return new Response(body, { headers: KEPT_HEADERS.map((name) => [name, answer.headers[name] ?? '']) })
  }
}
