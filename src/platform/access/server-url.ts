// The URLs of servers that settings and metadata may have.

import { isInside, isLoopback } from '../../base/addresses.ts'

/**
 * The URL of an authorization server or one of its endpoints. Throws a TypeError if it is not https. This
 * machine may use http.
 */
export function readServerUrl (text: string): URL {
  if (!URL.canParse(text)) throw new TypeError(`${text} is not a URL`)
  const url = new URL(text)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw new TypeError(`${text} must begin with https://. Only an address of this machine may use http://`)
}

/**
 * The URL of an endpoint that the metadata of an issuer names. Throws a TypeError where the metadata would
 * send this service to its own machine or network, and the issuer is not there. A name that leads there needs
 * a certificate of that name, so addresses are enough.
 */
export function readEndpointUrl (text: string, issuer: string): URL {
  const url = readServerUrl(text)
  const { hostname } = new URL(issuer)
  const mayBeThere = isLoopback(url.hostname) ? isLoopback(hostname) : isInside(hostname)
  if (mayBeThere || url.hostname === hostname || !isInside(url.hostname)) return url
  throw new TypeError(`the metadata of ${issuer} names ${url.origin}, an address inside this network`)
}

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
