// Refuses redirect URIs of clients that the engine would take.

import { errors } from 'oidc-provider'

/** Schemes with which a browser or a system does more than to open an app, beside those of the engine. */
const SCHEMES = [
  'chrome:', 'filesystem:', 'jar:', 'ms-msdt:', 'search-ms:', 'shell:', 'tel:', 'view-source:'
]

/** Throws an InvalidClientMetadata. The engine checks the rest, also whether they are texts. */
export function checkRedirects (uris: unknown): void {
  for (const uri of [uris].flat()) {
    const { protocol = '', username, password } = URL.parse(String(uri)) ?? {}
    if (SCHEMES.includes(protocol)) {
      throw new errors.InvalidClientMetadata('redirect_uris must not use this URI scheme')
    }
    // Browsers show it where people look for the host.
    if (username || password) throw new errors.InvalidClientMetadata('redirect_uris must not name a user')
  }
}
