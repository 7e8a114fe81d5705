// The backends by the schemes of TRIVET_STATE_URL. A backend, and its driver, is loaded when its scheme is
// used.

import type { Backend, BackendOptions, OpenBackend } from './backend.ts'

interface BackendEntry {
  readonly schemes: readonly string[]
  /** How its URLs look, in an error that says what the setting must be. */
  readonly form: string
  /** What follows the scheme and its colon. The backend itself may refuse a URL that matches. */
  readonly rest: RegExp
  /** Whether replicas of the service share the state. */
  readonly isShared: boolean
  readonly open: OpenBackend
}

const BACKENDS: readonly BackendEntry[] = [
  {
    schemes: ['memory'],
    form: 'memory:',
    rest: /^$/,
    isShared: false,
    open: async (url, options) => await (await import('./memory/open.ts')).openMemoryBackend(url, options)
  },
  {
    schemes: ['file'],
    form: 'file:PATH',
    rest: /^.+$/,
    isShared: false,
    open: async (url, options) => await (await import('./lmdb/open.ts')).openLmdbBackend(url, options)
  },
  {
    schemes: ['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'],
    form: 'an address of Redis such as redis://host:6379',
    rest: /^\/\/\S+$/,
    isShared: true,
    open: async (url, options) => await (await import('./redis/open.ts')).openRedisBackend(url, options)
  }
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
export async function openBackend (url: string, options: BackendOptions): Promise<Backend> {
  const backend = findBackend(url)
  if (backend === undefined) throw new Error(`TRIVET_STATE_URL must be ${STATE_URL_FORM}`)
  return await backend.open(url, options)
}

function findBackend (url: string): BackendEntry | undefined {
  const colon = url.indexOf(':')
  const [scheme, rest] = [url.slice(0, colon), url.slice(colon + 1)]
  return BACKENDS.find((entry) => entry.schemes.includes(scheme) && entry.rest.test(rest))
}
