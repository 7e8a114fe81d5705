// The URLs of servers that settings may have.

import { readServerUrl } from './bounded-fetch.ts'

/** Whether an authorization server may have the URL. */
export function isServerUrl (text: string): boolean {
  try {
    return readServerUrl(text).hash === ''
  } catch {
    return false
  }
}

/** Clients compare the URL as text, so it must be written in one way only. */
export function isPublicUrl (text: string): boolean {
  if (!isServerUrl(text)) return false
  const { href } = new URL(text)
  const isCanonical = href === text || href === `${text}/`
  return isCanonical && !text.endsWith('/') && isPlainUrl(text)
}

/** Whether a server of the operator may have the URL, also without TLS. */
export function isHttpUrl (text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && isPlainUrl(text)
}

/** Whether the URL has no user, no query and no fragment, not even an empty one. */
function isPlainUrl (text: string): boolean {
  const { username, password } = new URL(text)
  return `${username}${password}` === '' && !/[?#]/.test(text)
}
