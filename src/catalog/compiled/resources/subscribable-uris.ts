// The limits of the resources that one stream or one session may subscribe to.

import { quote } from '../../../base/words.ts'
import { invalidParams } from '../../../protocol/errors.ts'
import { toUri } from './uri.ts'

const MAX_URIS = 1000
/** The characters of all URIs together: each is matched against the templates of the catalog. */
const MAX_URI_CHARACTERS = 131_072

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
