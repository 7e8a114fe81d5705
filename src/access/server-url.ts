// The URLs that settings about access may have.

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
  const { href, username, password } = new URL(text)
  const isCanonical = href === text || href === `${text}/`
  return isCanonical && !text.endsWith('/') && `${username}${password}` === '' && !/[?#]/.test(text)
}
