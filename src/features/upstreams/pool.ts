// The connections to one upstream. The only file that loads undici.

import { Pool } from 'undici'
import { createCheckedLookup, type ResolveHost } from '../../platform/access/checked-lookup.ts'
import type { CompiledUpstream } from './definition/compile-upstream.ts'
import type { Transport } from './calling-upstream.ts'

/** @param connections the most that are open at once. */
export function openPool (
  { url, allowPrivate, timeoutMs }: CompiledUpstream, connections: number, resolveHost?: ResolveHost
): Transport {
  const pool = new Pool(url.origin, {
    connections,
    // A call has one deadline for everything.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup: createCheckedLookup(allowPrivate, resolveHost), timeout: timeoutMs }
  })
  return {
    dispatch ({ method, path, headers, body }, handler) {
      pool.dispatch({ method, path, headers, body }, handler)
    },
    close: async () => await pool.destroy()
  }
}
