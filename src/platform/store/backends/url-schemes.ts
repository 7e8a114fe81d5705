// The table of backends. The scheme of TRIVET_STATE_URL selects one.

import type { Backend, OpenedBackend, BackendOptions } from './backend.ts'
import { lmdbBackend } from './lmdb/backend.ts'
import { memoryBackend } from './memory/backend.ts'
import { postgresBackend } from './postgres/backend.ts'
import { redisBackend } from './redis/backend.ts'

const BACKENDS: readonly Backend[] = [
  memoryBackend,
  lmdbBackend,
  redisBackend,
  postgresBackend
]

/** The forms of all URLs, in words: completes "TRIVET_STATE_URL must be". */
export const STATE_URL_FORM = BACKENDS.map(({ form }) => form).join(', ').replace(/(.*), /, '$1, or ')

export function isStateUrl (url: string): boolean {
  return findBackend(url) !== undefined
}

/** Whether replicas share the state at this URL. */
export function isSharedUrl (url: string): boolean {
  return findBackend(url)?.isShared === true
}

/** The hosts of the URL, or its folder, for messages: without a user, a password and options. */
export function toPlace (url: string): string {
  const [, hosts] = /^[^:/]+:\/\/(?:[^/?#]*@)?([^/?#]+)/.exec(url) ?? []
  return hosts ?? url
}

/** Rejects if no backend has a URL of this form, or if the backend rejects. */
export async function openBackend (url: string, options: BackendOptions): Promise<OpenedBackend> {
  const backend = findBackend(url)
  if (backend === undefined) throw new Error(`TRIVET_STATE_URL must be ${STATE_URL_FORM}`)
  return await backend.open(url, options)
}

/** The SQL of the schema of a prefix. Rejects if there is no schema of this name. */
export async function writeSchema (prefix: string, role?: string): Promise<string> {
  const writing = BACKENDS.map(async (backend) => await backend.writeSchema?.(prefix, role) ?? '')
  const texts = await Promise.all(writing)
  return texts.join('')
}

function findBackend (url: string): Backend | undefined {
  const colon = url.indexOf(':')
  const [scheme, location] = [url.slice(0, colon), url.slice(colon + 1)]
  return BACKENDS.find((entry) => entry.schemes.includes(scheme) && entry.rest.test(location))
}
