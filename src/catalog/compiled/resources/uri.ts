// URIs as clients and authors write them, in the one form in which they are looked up and sent. Limits how
// many of them one stream or one session may subscribe to.
// https://www.rfc-editor.org/rfc/rfc3986

import { quote } from '../../../base/words.ts'
import { invalidParams } from '../../../platform/protocol/errors.ts'
import { checkOf } from '../../../platform/schema/reader.ts'
import { Type } from '../../../platform/schema/type.ts'

const isUri = checkOf(Type.String({ format: 'uri' }))

/** All characters that a URI may hold, but not the brackets: those only enclose an IP address. */
const ENCODED = /[^!#$%&'()*+,\-./0-9:;=?@A-Z_a-z~]+/g

const IP_HOST = /^[^/?#]*\/\/(?:[^/?#@]*@)?\[[^/?#[\]]*\](?=[:/?#]|$)/

/** In characters, percent-encoded. The time of matching a URI against a template grows with its length. */
export const MAX_URI_LENGTH = 8192

/**
 * Percent-encodes the characters that a URI may not hold, such as spaces and all that are not ASCII. A valid
 * URI is unchanged. `undefined` for a text that no encoding makes a URI: it has no scheme, a malformed
 * percent-encoding, or more than 8192 characters when it is encoded.
 */
export function toUri (text: string): string | undefined {
  if (text.length > MAX_URI_LENGTH) return undefined
  const [host = ''] = IP_HOST.exec(text) ?? []
  let uri: string
  try {
    uri = host + text.slice(host.length).replace(ENCODED, encodeURIComponent)
  } catch (error) {
    // Half of a surrogate pair has no encoding.
    if (error instanceof URIError) return undefined
    throw error
  }
  return uri.length <= MAX_URI_LENGTH && isUri(uri).ok ? uri : undefined
}

const MAX_URIS = 1000
/** The characters of all URIs together: each is matched against the templates of the catalog. */
const MAX_URI_CHARACTERS = 65_536

/** Throws for a text that is no URI, and for too many of them. */
export function checkSubscribableUris (uris: readonly string[]): void {
  if (uris.length > MAX_URIS) {
    throw invalidParams(`at most ${MAX_URIS} resources may be subscribed to, got ${uris.length}`)
  }
  let characters = 0
  for (const uri of uris) {
    if (toUri(uri) === undefined) throw invalidParams(`not a URI: ${quote(uri)}`)
    characters += uri.length
  }
  if (characters > MAX_URI_CHARACTERS) {
    throw invalidParams(
      `the URIs of all subscribed resources together may have ${MAX_URI_CHARACTERS} characters, ` +
        `got ${characters}`
    )
  }
}
