// The backends. The scheme of TRIVET_STATE_URL picks one of them.

import type { Backend, OpenedBackend, BackendOptions } from './backend.ts'
import { lmdbBackend } from './lmdb/backend.ts'
import { memoryBackend } from './memory/backend.ts'
import { redisBackend } from './redis/backend.ts'

const BACKENDS: readonly Backend[] = [
  memoryBackend,
  lmdbBackend,
  redisBackend
]

/** What TRIVET_STATE_URL must be, for people. */
export const STATE_URL_FORM = new Intl.ListFormat('en', { type: 'disjunction' })
  .format(BACKENDS.map(({ form }) => form))

export function isStateUrl (url: string): boolean {
  return findBackend(url) !== undefined
}

/** Whether replicas share the state of this URL. */
export function isSharedUrl (url: string): boolean {
  return findBackend(url)?.isShared === true
}

/** Rejects as the backend does, and where the URL is of no backend. */
export async function openBackend (url: string, options: BackendOptions): Promise<OpenedBackend> {
  const backend = findBackend(url)
  if (backend === undefined) throw new Error(`TRIVET_STATE_URL must be ${STATE_URL_FORM}`)
  return await backend.open(url, options)
}

function findBackend (url: string): Backend | undefined {
  const colon = url.indexOf(':')
  const [scheme, rest] = [url.slice(0, colon), url.slice(colon + 1)]
  return BACKENDS.find((entry) => entry.schemes.includes(scheme) && entry.rest.test(rest))
}
